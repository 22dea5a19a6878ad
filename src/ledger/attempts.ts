/** Every attempt to order: on disk before it is sent, so that a crash or a power cut leaves a trace. */
import { oneLine } from '../lib/text.ts';
import { AttemptTable, type NewOrder } from './attempt-table.ts';
import { matchFiles, type OrderedAudio, type OrderedFiles } from './ordered-files.ts';
import { timestamp } from './table.ts';

export interface PlacedOrder {
  readonly id: string;
  readonly audiofiles: readonly string[];
  readonly hold: string | undefined;
}

const MAX_DETAIL_LENGTH = 600;

/** Undoes a transaction. */
class NameTaken extends Error {}

const namesOf = ({ audios, test }: NewOrder): string[] => (test ? [] : audios.flatMap(({ names }) => names));

export class Attempts extends AttemptTable {
  /**
   * Writes an attempt and claims every name of its audios, all or none; gives its number. Gives nothing where another
   * attempt holds one of them, unless it is one of those that may be taken over. Test orders claim nothing.
   */
  begin(order: NewOrder, takeOver: readonly number[] | 'any'): number | undefined {
    try {
      return this.db.durable(() => {
        const attempt = this.addAttempt(order);
        if (!this.claims.take(attempt, namesOf(order), takeOver)) throw new NameTaken();
        return attempt;
      });
    } catch (error) {
      if (error instanceof NameTaken) return undefined;
      throw error;
    }
  }

  /** Says that the process which sends it is still there. */
  heartbeat(attempt: number): void {
    this.db.run("UPDATE attempts SET seen_at = ? WHERE id = ? AND status = 'sending'", timestamp(), attempt);
  }

  /** Renews the lease of an attempt, if it is still to be sent and holds all its names. */
  renew(attempt: number, order: NewOrder): boolean {
    const renewed = this.db.run(
      `UPDATE attempts SET seen_at = ? WHERE id = ? AND status = 'sending'
       AND (SELECT count(*) FROM claims WHERE claims.attempt = attempts.id) = ?`,
      timestamp(),
      attempt,
      this.claims.count(namesOf(order)),
    );
    return renewed > 0;
  }

  /**
   * The service accepted it: keeps the order and those of its files that can be told. Where that is not all of them,
   * the attempt stays open.
   */
  markPlaced(attempt: number, order: NewOrder, placed: PlacedOrder): OrderedFiles {
    const audios = order.audios.map(({ url, key = '' }) => ({ url: this.hide(url), key: this.hide(key) }));
    const row = {
      id: placed.id,
      at: timestamp(),
      skus: order.skus.join(','),
      names: this.hide(order.names.join('|')),
      notes: this.hide(order.notes ?? ''),
      hold: placed.hold === undefined ? null : this.hide(placed.hold),
    };
    return this.db.durable(() => {
      const known = order.test ? new Map() : this.#knownAudios(placed.audiofiles);
      const found = matchFiles(audios, placed.audiofiles, known);
      const isOpen = found.problem !== undefined && !order.test;
      this.endAttempt(attempt, isOpen ? 'uncertain' : 'placed', placed.id, found.problem ?? null);
      // It may have lost them, where somebody has settled it meanwhile.
      this.claims.take(attempt, namesOf(order), []);
      this.addOrder(row, found.files, order.test);
      return found;
    });
  }

  /** The audio of those of these files that the ledger has; test files belong to none. */
  #knownAudios(ids: readonly string[]): ReadonlyMap<string, OrderedAudio> {
    const rows = this.db.all<OrderedAudio & { id: string }>(
      `SELECT id, url, key FROM files
       WHERE profile = ? AND test = 0 AND id IN (SELECT value FROM json_each(?))`,
      this.profile,
      JSON.stringify(ids),
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** It was clearly not accepted: its audios may be ordered again. */
  markRefused(attempt: number, detail: string): void {
    this.db.durable(() => {
      if (this.#endSending(attempt, 'refused', detail)) this.claims.release(attempt);
    });
  }

  /** It may have been accepted. */
  markUncertain(attempt: number, detail: string): void {
    this.db.durable(() => this.#endSending(attempt, 'uncertain', detail));
  }

  /** Not where somebody has settled it meanwhile. */
  #endSending(attempt: number, status: 'refused' | 'uncertain', detail: string): boolean {
    const changed = this.db.run(
      "UPDATE attempts SET status = ?, detail = ?, ended_at = ? WHERE id = ? AND status = 'sending'",
      status,
      oneLine(this.hide(detail), MAX_DETAIL_LENGTH),
      timestamp(),
      attempt,
    );
    return changed > 0;
  }
}
