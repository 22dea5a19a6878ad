/** Which attempt holds which audio. A name has one holder: the primary key sees to that, whatever processes do. */
import { storedName } from './audio-names.ts';
import { holdsLease } from './lease.ts';
import { type Sender, senderText } from './sender.ts';
import { Table } from './table.ts';

/** `unclear` has no known end; `being sent` will have one soon. */
export type HolderStatus = 'placed' | 'unclear' | 'being sent';

/** The attempt that holds a name. */
export interface Holder {
  readonly attempt: number;
  readonly status: HolderStatus;
  /** When it was begun. */
  readonly at: string;
  /** Empty where no order is known. */
  readonly order: string;
  /** The audio that has the name, as it is kept. */
  readonly url: string;
  /** A hash of the URL as it was given. */
  readonly spelling: string;
  /** Whether there was an answer, though not a clear one. */
  readonly answered: boolean;
  /** It was ordered elsewhere, and taken in with `track` at that time. */
  readonly tracked: boolean;
  /** `user@host, pid n` */
  readonly by: string;
}

interface HolderRow extends SenderRow {
  readonly name: string;
  readonly attempt: number;
  readonly status: 'sending' | 'placed' | 'uncertain';
  readonly started_at: string;
  readonly order_id: string | null;
  readonly detail: string | null;
  readonly url: string | null;
  readonly spelling: string | null;
}

export interface SenderRow extends Sender {
  readonly process_start: string;
  readonly seen_at: string | null;
}

/** What happened to an attempt that stands for a file which was ordered elsewhere. */
export const TRACKED = 'taken in with track';

/** Names a query: the text of them all stays within a few megabytes. */
const NAMES_PER_QUERY = 10_000;

export class Claims extends Table {
  /** The holders of those of these names that are held. */
  holders(names: readonly string[]): Map<string, Holder> {
    const stored = new Map(names.map((name) => [name, this.#stored(name)]));
    const found = new Map<string, Holder>();
    const all = [...new Set(stored.values())];
    for (let at = 0; at < all.length; at += NAMES_PER_QUERY) {
      for (const row of this.#rows(all.slice(at, at + NAMES_PER_QUERY))) found.set(row.name, holderOf(row));
    }
    return new Map([...stored].flatMap(([name, key]) => holderFor(name, found.get(key))));
  }

  /** CROSS JOIN keeps the order of the tables: each is then found by its key, however many URLs an attempt has. */
  #rows(names: readonly string[]): HolderRow[] {
    return this.db.all<HolderRow>(
      `SELECT claims.name, claims.attempt, attempts.status, attempts.started_at, attempts.order_id, attempts.detail, attempts.user,
         attempts.host, attempts.pid, attempts.process_start, attempts.seen_at, attempt_urls.url, attempt_urls.spelling
       FROM json_each(?) AS asked
       CROSS JOIN claims ON claims.profile = ? AND claims.name = asked.value
       CROSS JOIN attempts ON attempts.id = claims.attempt
       LEFT JOIN attempt_names ON attempt_names.name = claims.name AND attempt_names.attempt = claims.attempt
       LEFT JOIN attempt_urls ON attempt_urls.attempt = claims.attempt AND attempt_urls.position = attempt_names.position`,
      JSON.stringify(names),
      this.profile,
    );
  }

  /**
   * Takes names for an attempt, also from these other ones, or from any. False if another attempt holds one of them:
   * then some may be taken, and the transaction must be undone. In sorted order, so that no two wait for each other.
   */
  take(attempt: number, names: readonly string[], from: readonly number[] | 'any'): boolean {
    const wanted = [...new Set(names.map((name) => this.#stored(name)))].sort();
    const taken = this.db.run(
      `INSERT INTO claims (profile, name, attempt) SELECT ?, value, ? FROM json_each(?) WHERE true
       ON CONFLICT (profile, name) DO UPDATE SET attempt = excluded.attempt
       WHERE ? OR claims.attempt IN (SELECT value FROM json_each(?))`,
      this.profile,
      attempt,
      JSON.stringify(wanted),
      Number(from === 'any'),
      JSON.stringify(from === 'any' ? [] : from),
    );
    return taken === wanted.length;
  }

  /** Gives back what an attempt still holds: to another attempt that has the name and was not refused, or to none. */
  release(attempt: number): void {
    const heir = `(SELECT attempts.id FROM attempt_names CROSS JOIN attempts ON attempts.id = attempt_names.attempt
      WHERE attempt_names.name = claims.name AND attempts.profile = claims.profile AND attempts.id <> claims.attempt
      AND attempts.test = 0 AND attempts.status <> 'refused'
      ORDER BY attempts.status = 'placed' DESC, attempts.id DESC LIMIT 1)`;
    this.db.run(
      `UPDATE claims SET attempt = ${heir} WHERE profile = ? AND attempt = ? AND ${heir} IS NOT NULL`,
      this.profile,
      attempt,
    );
    this.db.run('DELETE FROM claims WHERE profile = ? AND attempt = ?', this.profile, attempt);
  }

  #stored(name: string): string {
    return storedName(this.hide(name));
  }
}

const holderFor = (name: string, holder: Holder | undefined): Array<[string, Holder]> =>
  holder ? [[name, holder]] : [];

const holderOf = (row: HolderRow): Holder => ({
  attempt: row.attempt,
  status: row.status === 'placed' ? 'placed' : openStatus(row.status, row),
  at: row.started_at,
  order: row.order_id ?? '',
  url: row.url ?? '',
  spelling: row.spelling ?? '',
  answered: row.status === 'uncertain',
  tracked: row.detail === TRACKED,
  by: senderText(row),
});

/** The status of an attempt whose outcome is not written yet. */
export function openStatus(status: string, row: SenderRow): 'unclear' | 'being sent' {
  const { host, pid, process_start: start, seen_at: seenAt } = row;
  const isSent = status === 'sending' && seenAt !== null && holdsLease({ host, pid, start, seenAt });
  return isSent ? 'being sent' : 'unclear';
}
