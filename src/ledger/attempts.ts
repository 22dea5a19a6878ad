/** Every attempt to order: on disk before it is sent, so that a crash or a power cut leaves a trace. */
import { errorMessage, StenoError } from '../lib/errors.ts';
import { oneLine } from '../lib/text.ts';
import { AttemptTable } from './attempt-table.ts';
import { detailsText, hiddenDetails } from './audio-details.ts';
import type { Audio } from './audio-names.ts';
import { jsonList } from './json-list.ts';
import { movedMark, refuseMoved, unlessMoved } from './moved.ts';
import type { NewOrder, PlacedOrder, SpendingLimit } from './new-order.ts';
import { matchFiles, type OrderedAudio, type OrderedFiles } from './ordered-files.ts';
import type { KeptOutcome, Outcome } from './outbox.ts';
import { waitingForOthers, withinLimit } from './spending.ts';
import { CommitUnknown, type Statement } from './store.ts';
import { NOW } from './table.ts';

const MAX_DETAIL_LENGTH = 600;

const NEVER_SENT = 'it was never sent: the ledger went away';

const namesOf = ({ audios, test }: NewOrder): string[] => (test ? [] : audios.flatMap(({ names }) => names));

/** Real files of these ids. */
const KNOWN = 'profile = ? AND test = 0 AND id IN (SELECT value FROM json_each(?))';

/** How often an attempt is begun anew whose COMMIT is known not to have come through. */
const MAX_BEGINNINGS = 3;

export class Attempts extends AttemptTable {
  /** Of the attempts that this process has begun, by their numbers. */
  readonly #tokens = new Map<number, string>();

  /**
   * Writes an attempt and claims every name of its audios, all or none; gives its number. Gives nothing where another
   * attempt holds one of them, unless it is one of those that may be taken over. Test orders claim nothing.
   */
  async begin(
    order: NewOrder,
    takeOver: readonly number[] | 'any',
    limit?: SpendingLimit | undefined,
  ): Promise<number | undefined> {
    for (let n = 1; ; n += 1) {
      const token = process.getBuiltinModule('node:crypto').randomUUID();
      const attempt = await this.#begin(order, token, takeOver, limit);
      if (attempt instanceof CommitUnknown && n === MAX_BEGINNINGS) throw attempt;
      if (attempt instanceof CommitUnknown) continue;
      if (attempt !== undefined) this.#tokens.set(attempt, token);
      return attempt;
    }
  }

  /** Gives the error where its COMMIT is known not to have come through. */
  async #begin(
    order: NewOrder,
    token: string,
    takeOver: readonly number[] | 'any',
    limit: SpendingLimit | undefined,
  ): Promise<number | undefined | CommitUnknown> {
    const statements = [
      unlessMoved(this.profile),
      ...(limit ? [waitingForOthers(this.profile, this.timestamp())] : []),
      ...this.newAttempt(order, token),
      ...this.claims.taking(token, namesOf(order), takeOver),
      ...(limit ? [withinLimit(this.profile, token, limit)] : []),
      { sql: 'SELECT id FROM attempts WHERE token = ?', values: [token] },
    ];
    try {
      const begun = (await this.db.batch<{ id: number }>(statements))?.[0]?.id;
      if (begun === undefined) await refuseMoved(this.db, this.profile);
      return begun;
    } catch (error) {
      if (!(error instanceof CommitUnknown)) throw error;
      return (await this.#askAbout(token, error)) ?? error;
    }
  }

  /** A COMMIT got no answer: nothing is sent unless the attempt is known to be there. */
  async #askAbout(token: string, error: CommitUnknown): Promise<number | undefined> {
    try {
      return (await this.#forbid(token, NEVER_SENT)) ? undefined : await this.#byToken(token);
    } catch {
      this.#keep(token, { kind: 'refused', detail: NEVER_SENT });
      throw error;
    }
  }

  /**
   * Takes the place of an attempt that is not there, so that a COMMIT which is still on its way fails: the token is
   * unique, and the database waits for the end of whatever holds it. False where the attempt is there.
   */
  #forbid(token: string, detail: string): Promise<boolean> {
    return this.db.durable(async (db) => {
      const added = await db.run(
        `INSERT INTO attempts (profile, status, test, started_at, ended_at, token, detail)
         VALUES (?, 'refused', 1, ${NOW}, ${NOW}, ?, ?) ON CONFLICT (token) DO NOTHING`,
        this.profile,
        token,
        detail,
      );
      return added > 0;
    });
  }

  async #byToken(token: string): Promise<number | undefined> {
    return (await this.db.get<{ id: number }>('SELECT id FROM attempts WHERE token = ?', token))?.id;
  }

  /** Says that the process which sends it is still there. */
  async heartbeat(attempt: number): Promise<void> {
    await this.db.run(`UPDATE attempts SET seen_at = ${NOW} WHERE id = ? AND status = 'sending'`, attempt);
  }

  /** Renews the lease of an attempt, if it is still to be sent, holds all its names, and the ledger has not moved. */
  async renew(attempt: number, order: NewOrder): Promise<boolean> {
    const renewed = await this.db.run(
      `UPDATE attempts SET seen_at = ${NOW} WHERE id = ? AND status = 'sending'
       AND (SELECT count(*) FROM claims WHERE claims.attempt = attempts.id) = ?
       AND NOT EXISTS (SELECT 1 FROM properties WHERE name = ?)`,
      attempt,
      this.claims.count(namesOf(order)),
      movedMark(this.profile),
    );
    return renewed > 0;
  }

  /**
   * The service accepted it: keeps the order and those of its files that can be told. Where that is not all of them,
   * the attempt stays open.
   */
  markPlaced(attempt: number, order: NewOrder, placed: PlacedOrder): Promise<OrderedFiles> {
    const at = this.timestamp();
    const outcome = { kind: 'placed' as const, ...this.#hidden(order, placed) };
    return this.#sure(attempt, outcome, () => this.#writePlaced(attempt, order, placed, at));
  }

  async #writePlaced(
    attempt: number,
    order: NewOrder,
    placed: PlacedOrder,
    at: string,
  ): Promise<OrderedFiles> {
    const audios = order.audios.map(({ url, key = '', details }) => ({
      ...{ url: this.hide(url), key: this.hide(key) },
      details: detailsText(details, this.hide),
    }));
    const row = {
      id: placed.id,
      at,
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
      values: [...values, this.profile, jsonList(audiofiles)],
      expects: 1,
    };
  }

  /** The audio of those of these files that the ledger has; test files belong to none. */
  async #knownAudios(ids: readonly string[]): Promise<ReadonlyMap<string, OrderedAudio>> {
    const rows = await this.db.all<OrderedAudio & { id: string }>(
      `SELECT id, url, key FROM files WHERE ${KNOWN}`,
      this.profile,
      jsonList(ids),
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

  /** Writes an outcome that the ledger could not take at its time; once, though two processes may have it. */
  async take({ token, at, outcome }: KeptOutcome): Promise<void> {
    if (outcome.kind === 'placed') return this.#takePlaced(token, at, outcome);
    // Where it is not there, it must not come any more.
    if (await this.#forbid(token, outcome.detail)) return;
    const attempt = await this.#byToken(token);
    if (attempt === undefined) return;
    if (outcome.kind === 'refused') await this.#writeRefused(attempt, outcome.detail);
    else await this.#writeUncertain(attempt, outcome.detail);
  }

  async #takePlaced(
    token: string,
    at: string,
    { order, placed }: Extract<Outcome, { kind: 'placed' }>,
  ): Promise<void> {
    const sql = "SELECT 1 FROM attempts WHERE token = ? AND status = 'placed' AND order_id = ?";
    if (await this.db.get(sql, token, placed.id)) return;
    // A failover may have lost it.
    const attempt = (await this.#byToken(token)) ?? (await this.#beginAgain(order, token));
    await this.#writePlaced(attempt, order, placed, at);
  }

  async #beginAgain(order: NewOrder, token: string): Promise<number> {
    const select = { sql: 'SELECT id FROM attempts WHERE token = ?', values: [token] };
    const rows = await this.db.batch<{ id: number }>([...this.newAttempt(order, token), select]);
    return Number(rows?.[0]?.id);
  }

  /**
   * Each outcome may be written twice, so a write that may have come through is repeated. Where the ledger may go away
   * meanwhile, the outcome is kept here first: this process may be ended while it waits for an answer.
   */
  async #sure<Result>(attempt: number, outcome: Outcome, write: () => Promise<Result>): Promise<Result> {
    const token = this.outbox && this.#tokens.get(attempt);
    const kept = token === undefined ? undefined : this.#keep(token, outcome);
    try {
      const result = await write().catch((error: unknown) => {
        if (error instanceof CommitUnknown) return write();
        throw error;
      });
      kept?.remove();
      return result;
    } catch (cause) {
      if (!kept) throw cause;
      throw new StenoError('failed', `${errorMessage(cause)}; ${kept.what}`, { cause });
    }
  }

  /** A disk that can't take it is no reason not to tell the ledger. */
  #keep(token: string, outcome: Outcome): { readonly what: string; remove(): void } {
    try {
      const remove = this.outbox?.add({ token, at: this.timestamp(), outcome });
      return { what: 'the next steno here that reaches it is told', remove: () => remove?.() };
    } catch (error) {
      return { what: `nor could it be kept here: ${errorMessage(error)}`, remove: () => {} };
    }
  }

  /** What is kept on this machine holds no secret either. */
  #hidden(order: NewOrder, placed: PlacedOrder): { order: NewOrder; placed: PlacedOrder } {
    const hide = (text: string): string => this.hide(text);
    const optional = (text: string | undefined): string | undefined => text && hide(text);
    const audios = order.audios.map(
      ({ url, key, names, details }): Audio => ({
        ...{ url: hide(url), key: optional(key), names: names.map(hide) },
        details: hiddenDetails(details, hide),
      }),
    );
    return {
      order: { ...order, audios, names: order.names.map(hide), notes: optional(order.notes) },
      placed: { ...placed, hold: optional(placed.hold) },
    };
  }

  /** Not where somebody has settled it meanwhile. */
  #endingSending(attempt: number, status: 'refused' | 'uncertain', detail: string): Statement {
    return {
      sql: `UPDATE attempts SET status = ?, detail = ?, ended_at = ${NOW} WHERE id = ? AND status = 'sending'`,
      values: [status, oneLine(this.hide(detail), MAX_DETAIL_LENGTH), attempt],
    };
  }
}
