/**
 * What events say of files and orders. Nobody signs an event, so it never ends a file: it changes what is shown and
 * asks for a look, and the service's own answer decides.
 */
import type { Database } from '../lib/sqlite.ts';

/** What an event says, as far as the ledger follows it. */
export interface News {
  readonly event: string;
  readonly audiofile: string;
  readonly order: string;
  readonly files: readonly string[];
  readonly hold: string;
  readonly original: string;
}

/** What the ledger knows of a file that an event names. */
export interface Known {
  readonly title: string;
  /** The event that stands for the file's delivery, which has not come so far. */
  readonly found: number | null;
}

export interface Missed {
  readonly id: string;
  readonly order_id: string;
  readonly url: string;
}

export class Heard {
  readonly #db: Database;
  readonly #profile: string;

  constructor(db: Database, profile: string) {
    this.#db = db;
    this.#profile = profile;
  }

  /** Those of these files that are known here. */
  knownOf(ids: readonly string[]): ReadonlyMap<string, Known> {
    const rows = this.#db.all<Known & { id: string }>(
      'SELECT id, title, found FROM files WHERE profile = ? AND id IN (SELECT value FROM json_each(?))',
      this.#profile,
      JSON.stringify(ids),
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Lets the rows of files and orders follow an event; for use within a transaction. */
  note({ event, audiofile, order, files, hold, original }: News): void {
    switch (event) {
      case 'TRANSCRIPT_COMPLETE':
        this.#onFile(
          audiofile,
          "state = CASE ended WHEN '' THEN 'Delivered' ELSE state END, awaited = 0, completed = 1",
        );
        this.#setHold(order, null);
        break;
      case 'REFUND_ISSUED':
        if (audiofile) this.#onFile(audiofile, "state = 'Refunded'");
        else this.#onOrder(order, "remark = 'refund issued'");
        break;
      case 'DIFFICULT_AUDIO':
        this.#onFile(audiofile, "remark = 'difficult audio'");
        break;
      case 'DUPLICATE_FILE':
        this.#onFile(audiofile, 'remark = ?', `duplicate of ${original || 'another file'}`);
        break;
      case 'CC_AUTH_FAILURE':
        this.#onOrder(order, "remark = 'card refused'");
        break;
      case 'ORDER_ON_HOLD':
        for (const file of files) this.#onFile(file, heldState);
        this.#onOrder(order, heldState);
        this.#setHold(order, hold || 'held');
        break;
      default:
        break;
    }
  }

  /** Those of these files that have ended, or were heard of since the service was last asked about them. */
  withNews(ids: readonly string[]): string[] {
    return this.#db
      .all<{ id: string }>(
        `SELECT id FROM files WHERE profile = ? AND id IN (SELECT value FROM json_each(?))
         AND (ended <> '' OR heard_at >= coalesce(checked_at, ''))`,
        this.#profile,
        JSON.stringify(ids),
      )
      .map(({ id }) => id);
  }

  /** Open files to ask the service about: those heard of first, then those not asked about since `before` (ISO 8601). */
  toLookAt(before: string, limit: number): string[] {
    return this.#db
      .all<{ id: string }>(
        `SELECT id FROM files WHERE profile = ? AND ended = '' AND test = 0
         AND (coalesce(checked_at, '') < ? OR heard_at >= coalesce(checked_at, ''))
         ORDER BY heard_at >= coalesce(checked_at, '') DESC, coalesce(checked_at, '') LIMIT ?`,
        this.#profile,
        before,
        limit,
      )
      .map(({ id }) => id);
  }

  /** A listener waits for the event of every file that is open now, unless that has come. */
  await(): void {
    this.#db.run(
      `UPDATE files SET awaited = 1
       WHERE profile = ? AND ended = '' AND test = 0 AND awaited = 0 AND completed = 0`,
      this.#profile,
    );
  }

  /** Files that a listener waited for and that were seen to be delivered before `until`, with no event so far. */
  missed(until: string): Missed[] {
    return this.#db.all<Missed>(
      `SELECT id, order_id, url FROM files
       WHERE profile = ? AND awaited = 1 AND ended = 'delivered' AND changed_at < ? ORDER BY seq LIMIT 1000`,
      this.#profile,
      until,
    );
  }

  /**
   * Those of these files whose event came all the same: before the file itself was in the ledger. Reads all events,
   * so it is for the few files that were missed.
   */
  cameEarly(ids: readonly string[]): ReadonlySet<string> {
    if (ids.length === 0) return new Set();
    const rows = this.#db.all<{ id: string }>(
      `SELECT DISTINCT audiofile AS id FROM events WHERE profile = ? AND source = 'received'
       AND event = 'TRANSCRIPT_COMPLETE' AND audiofile IN (SELECT value FROM json_each(?))`,
      this.#profile,
      JSON.stringify(ids),
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** Takes note that a missed event is dealt with; false if it has come, or if another listener was faster. */
  settle(id: string): boolean {
    const changed = this.#db.run(
      'UPDATE files SET awaited = 0, completed = 1 WHERE profile = ? AND id = ? AND awaited = 1',
      this.#profile,
      id,
    );
    return changed > 0;
  }

  /** Remembers which event stands for the delivery of a file, should that still come. */
  standsFor(id: string, event: number): void {
    this.#db.run('UPDATE files SET found = ? WHERE profile = ? AND id = ?', event, this.#profile, id);
  }

  /** Pairs a delivery with the event that stood for it; false if an earlier delivery was paired with that. */
  pair(id: string, found: number, delivery: number): boolean {
    const changed = this.#db.run(
      'UPDATE files SET found = NULL WHERE profile = ? AND id = ? AND found = ?',
      this.#profile,
      id,
      found,
    );
    if (changed === 0) return false;
    const setTwin = 'UPDATE events SET twin = ? WHERE id = ?';
    this.#db.run(setTwin, delivery, found);
    this.#db.run(setTwin, found, delivery);
    return true;
  }

  #onFile(id: string, set: string, ...values: string[]): void {
    this.#change(`${set} WHERE profile = ? AND id = ?`, ...values, this.#profile, id);
  }

  #onOrder(order: string, set: string): void {
    if (order) this.#change(`${set} WHERE profile = ? AND order_id = ? AND ended = ''`, this.#profile, order);
  }

  #change(rest: string, ...values: string[]): void {
    const now = new Date().toISOString();
    this.#db.run(`UPDATE files SET heard_at = ?, changed_at = ?, ${rest}`, now, now, ...values);
  }

  #setHold(order: string, to: string | null): void {
    if (!order) return;
    this.#db.run(
      'UPDATE orders SET hold = ? WHERE profile = ? AND id = ? AND hold IS NOT ?',
      to,
      this.#profile,
      order,
      to,
    );
  }
}

const heldState = "state = CASE ended WHEN '' THEN 'On Hold' ELSE state END";
