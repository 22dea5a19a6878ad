/** Every attempt to order: on disk before it is sent, so that a crash or a power cut leaves a trace. */
import { errorMessage, StenoError } from '../lib/errors.ts';
import { oneLine } from '../lib/text.ts';
import { AttemptTable } from './attempt-table.ts';
import type { Audio } from './audio-names.ts';
import type { NewOrder, PlacedOrder } from './new-order.ts';
import { matchFiles, type OrderedAudio, type OrderedFiles } from './ordered-files.ts';
import type { KeptOutcome, Outcome } from './outbox.ts';
import { CommitUnknown, type Statement } from './store.ts';
import { NOW } from './table.ts';

const MAX_DETAIL_LENGTH = 600;

const namesOf = ({ audios, test }: NewOrder): string[] => (test ? [] : audios.flatMap(({ names }) => names));

/** Real files of these ids. */
const KNOWN = 'profile = ? AND test = 0 AND id IN (SELECT value FROM json_each(?))';

export class Attempts extends AttemptTable {
  /**
   * Writes an attempt and claims every name of its audios, all or none; gives its number. Gives nothing where another
   * attempt holds one of them, unless it is one of those that may be taken over. Test orders claim nothing.
   */
  async begin(order: NewOrder, takeOver: readonly number[] | 'any'): Promise<number | undefined> {
    const token = process.getBuiltinModule('node:crypto').randomUUID();
    const statements = [
      ...this.newAttempt(order, token),
      ...this.claims.taking(token, namesOf(order), takeOver),
      { sql: 'SELECT id FROM attempts WHERE token = ?', values: [token] },
    ];
    try {
      return (await this.db.batch<{ id: number }>(statements))?.[0]?.id;
    } catch (error) {
      if (!(error instanceof CommitUnknown)) throw error;
      return await this.#askAbout(token, error);
    }
  }

  /** A COMMIT got no answer: nothing is sent unless the attempt is known to be there. */
  async #askAbout(token: string, error: CommitUnknown): Promise<number> {
    try {
      const found = await this.#byToken(token);
      if (found !== undefined) return found;
    } catch {
      this.outbox?.add({ account: this.profile, unsent: token });
    }
    throw error;
  }

  async #byToken(token: string): Promise<number | undefined> {
    return (await this.db.get<{ id: number }>('SELECT id FROM attempts WHERE token = ?', token))?.id;
  }

  /** Says that the process which sends it is still there. */
  async heartbeat(attempt: number): Promise<void> {
    await this.db.run(`UPDATE attempts SET seen_at = ${NOW} WHERE id = ? AND status = 'sending'`, attempt);
  }

  /** Renews the lease of an attempt, if it is still to be sent and holds all its names. */
  async renew(attempt: number, order: NewOrder): Promise<boolean> {
    const renewed = await this.db.run(
      `UPDATE attempts SET seen_at = ${NOW} WHERE id = ? AND status = 'sending'
       AND (SELECT count(*) FROM claims WHERE claims.attempt = attempts.id) = ?`,
      attempt,
      this.claims.count(namesOf(order)),
    );
    return renewed > 0;
  }

  /**
   * The service accepted it: keeps the order and those of its files that can be told. Where that is not all of them,
   * the attempt stays open.
   */
  markPlaced(attempt: number, order: NewOrder, placed: PlacedOrder): Promise<OrderedFiles> {
    const kept = { ...order, audios: order.audios.map((audio) => this.#hidden(audio)) };
    const outcome = { kind: 'placed' as const, order: kept, placed };
    return this.#sure(attempt, outcome, () => this.#writePlaced(attempt, order, placed));
  }

  async #writePlaced(attempt: number, order: NewOrder, placed: PlacedOrder): Promise<OrderedFiles> {
    const audios = order.audios.map(({ url, key = '' }) => ({ url: this.hide(url), key: this.hide(key) }));
    const row = {
      id: placed.id,
      at: this.timestamp(),
      skus: order.skus.join(','),
      names: this.hide(order.names.join('|')),
      notes: this.hide(order.notes ?? ''),
      hold: placed.hold === undefined ? null : this.hide(placed.hold),
    };
    const write = (found: OrderedFiles): Statement[] => {
      const isOpen = found.problem !== undefined && !order.test;
      const status = isOpen ? 'uncertain' : 'placed';
      return [
        this.endingAttempt(attempt, { status, order: placed.id, detail: found.problem ?? null }),
        // It may have lost them, where somebody has settled it meanwhile.
        this.claims.takingFor(attempt, namesOf(order), []),
        ...this.addingOrder(attempt, row, found.files, order.test),
      ];
    };
    const asNew = matchFiles(audios, placed.audiofiles, new Map());
    // Mostly none of the files is known: then nothing has to be read first.
    const [ending, ...others] = write(asNew);
    if (ending && (await this.db.batch([this.#ifNoneIsKnown(ending, order, placed), ...others])))
      return asNew;
    return this.db.durable(async (db) => {
      const known = await this.within(db).#knownAudios(placed.audiofiles);
      const found = matchFiles(audios, placed.audiofiles, known);
      await db.batch(write(found));
      return found;
    });
  }

  /** Undoes the batch of an UPDATE where the ledger has one of the files of a real order. */
  #ifNoneIsKnown({ sql, values }: Statement, { test }: NewOrder, { audiofiles }: PlacedOrder): Statement {
    if (test) return { sql, values };
    return {
      sql: `${sql} AND NOT EXISTS (SELECT 1 FROM files WHERE ${KNOWN})`,
      values: [...values, this.profile, JSON.stringify(audiofiles)],
      expects: 1,
    };
  }

  /** The audio of those of these files that the ledger has; test files belong to none. */
  async #knownAudios(ids: readonly string[]): Promise<ReadonlyMap<string, OrderedAudio>> {
    const rows = await this.db.all<OrderedAudio & { id: string }>(
      `SELECT id, url, key FROM files WHERE ${KNOWN}`,
      this.profile,
      JSON.stringify(ids),
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** It was clearly not accepted: its audios may be ordered again. */
  markRefused(attempt: number, detail: string): Promise<void> {
    return this.#sure(attempt, { kind: 'refused', detail: this.hide(detail) }, () =>
      this.#writeRefused(attempt, detail),
    );
  }

  async #writeRefused(attempt: number, detail: string): Promise<void> {
    await this.db.batch([this.#endingSending(attempt, 'refused', detail), ...this.claims.releasing(attempt)]);
  }

  /** It may have been accepted. */
  markUncertain(attempt: number, detail: string): Promise<void> {
    return this.#sure(attempt, { kind: 'uncertain', detail: this.hide(detail) }, () =>
      this.#writeUncertain(attempt, detail),
    );
  }

  async #writeUncertain(attempt: number, detail: string): Promise<void> {
    await this.db.batch([this.#endingSending(attempt, 'uncertain', detail)]);
  }

  /** Writes an outcome that the ledger could not take at its time. */
  async take(kept: KeptOutcome): Promise<void> {
    if ('unsent' in kept) {
      const attempt = await this.#byToken(kept.unsent);
      if (attempt !== undefined) await this.#writeRefused(attempt, 'it was never sent: the ledger went away');
      return;
    }
    const { attempt, outcome } = kept;
    if (outcome.kind === 'placed') await this.#writePlaced(attempt, outcome.order, outcome.placed);
    else if (outcome.kind === 'refused') await this.#writeRefused(attempt, outcome.detail);
    else await this.#writeUncertain(attempt, outcome.detail);
  }

  /** Each outcome may be written twice, so a write that may have come through is repeated; else it is kept here. */
  async #sure<Result>(attempt: number, outcome: Outcome, write: () => Promise<Result>): Promise<Result> {
    try {
      return await write().catch((error: unknown) => {
        if (error instanceof CommitUnknown) return write();
        throw error;
      });
    } catch (error) {
      if (!this.outbox) throw error;
      this.outbox.add({ account: this.profile, attempt, outcome });
      throw new StenoError('failed', `${errorMessage(error)}; the next steno that reaches it is told`, {
        cause: error,
      });
    }
  }

  #hidden({ url, key, names }: Audio): Audio {
    const hide = (text: string): string => this.hide(text);
    return { url: hide(url), key: key === undefined ? undefined : hide(key), names: names.map(hide) };
  }

  /** Not where somebody has settled it meanwhile. */
  #endingSending(attempt: number, status: 'refused' | 'uncertain', detail: string): Statement {
    return {
      sql: `UPDATE attempts SET status = ?, detail = ?, ended_at = ${NOW} WHERE id = ? AND status = 'sending'`,
      values: [status, oneLine(this.hide(detail), MAX_DETAIL_LENGTH), attempt],
    };
  }
}
