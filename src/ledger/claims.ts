/** Which attempt holds which audio. A name has one holder: the primary key sees to that, whatever processes do. */

import { otherSender, type Sender, senderText } from '../lib/sender.ts';
import { storedName } from './audio-names.ts';
import { jsonList, keptText } from './json-list.ts';
import { holdsLease } from './lease.ts';
import type { Statement, Value } from './store.ts';
import { NOW, Table } from './table.ts';

/** `unclear` has no known end; `being sent` will have one soon. */
export type HolderStatus = 'placed' | 'unclear' | 'being sent';

/** The attempt that decides whether an audio may be ordered. */
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
  /** How long ago its outcome, or that there is none, was written; or it was begun, where nothing was. */
  readonly endedAgoMs: number;
  /** It was ordered elsewhere, and taken in with `track` at that time. */
  readonly tracked: boolean;
  /** `user@host, pid n` */
  readonly by: string;
  /** `user@host` or the CI job, where it is not this user on this machine. */
  readonly other: string;
}

interface HolderRow extends SenderRow {
  readonly name: string;
  readonly attempt: number;
  readonly status: 'sending' | 'placed' | 'uncertain';
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly order_id: string | null;
  readonly detail: string | null;
  readonly url: string | null;
  readonly spelling: string | null;
}

export interface SenderRow extends Sender {
  readonly process_start: string;
  readonly seen_at: string | null;
  /** By the clock of the ledger. */
  readonly now: string;
}

/** What happened to an attempt that stands for a file which was ordered elsewhere. */
export const TRACKED = 'taken in with track';

/** The attempt that holds the claim of a name. */
const CLAIM = `CROSS JOIN claims ON claims.profile = ? AND claims.name = asked.value
  CROSS JOIN attempts ON attempts.id = claims.attempt
  LEFT JOIN attempt_names ON attempt_names.name = claims.name AND attempt_names.attempt = claims.attempt`;

/** Where that attempt was not placed: every attempt at the name that was not refused. */
const OF_OPEN_CLAIM = `CROSS JOIN claims ON claims.profile = ? AND claims.name = asked.value
  CROSS JOIN attempts AS holder ON holder.id = claims.attempt AND holder.status <> 'placed'
  CROSS JOIN attempt_names ON attempt_names.name = claims.name
  CROSS JOIN attempts ON attempts.id = attempt_names.attempt AND attempts.profile = claims.profile AND attempts.test = 0
    AND attempts.status <> 'refused'`;

/** Names a query: the text of them all stays within a few megabytes. */
const NAMES_PER_QUERY = 10_000;

/** From one that may be taken over, unless it was placed or settled meanwhile. */
const takesOver = `ON CONFLICT (profile, name) DO UPDATE SET attempt = excluded.attempt
  WHERE ? = 1 OR claims.attempt IN (SELECT id FROM attempts WHERE status IN ('sending', 'uncertain')
    AND id IN (SELECT CAST(value AS BIGINT) FROM json_each(?)))`;

const takenOver = (from: readonly number[] | 'any'): Value[] =>
  from === 'any' ? [1, '[]'] : [0, JSON.stringify(from)];

export class Claims extends Table {
  /**
   * The holders of those of these names that are held. The claim belongs to the newest attempt, which may have had no
   * clear answer where an earlier one was placed: of all attempts with the name, the one that says most counts.
   */
  async holders(names: readonly string[]): Promise<Map<string, Holder>> {
    const stored = new Map(names.map((name) => [name, this.#stored(name)]));
    const found = new Map<string, Holder>();
    const all = [...new Set(stored.values())];
    for (let at = 0; at < all.length; at += NAMES_PER_QUERY) {
      const some = all.slice(at, at + NAMES_PER_QUERY);
      // Neither waits for the other: over a network they share a round trip.
      const [claims, others] = await Promise.all([this.#rows(CLAIM, some), this.#rows(OF_OPEN_CLAIM, some)]);
      for (const row of claims) found.set(row.name, holderOf(row, this.db.isShared));
      for (const row of others) {
        const holder = holderOf(row, this.db.isShared);
        if (weight(holder) > weight(found.get(row.name))) found.set(row.name, holder);
      }
    }
    return new Map([...stored].flatMap(([name, key]) => holderFor(name, found.get(key))));
  }

  /** CROSS JOIN keeps the order of the tables: each is then found by its key, however many URLs an attempt has. */
  #rows(attemptsOfNames: string, names: readonly string[]): Promise<HolderRow[]> {
    return this.db.all<HolderRow>(
      `SELECT asked.value AS name, attempts.id AS attempt, attempts.status, attempts.started_at, attempts.ended_at,
         attempts.order_id, attempts.detail, attempts."user", attempts.host, attempts.pid, attempts.job,
         attempts.process_start, attempts.seen_at, ${NOW} AS now, attempt_urls.url, attempt_urls.spelling
       FROM json_each(?) AS asked ${attemptsOfNames}
       LEFT JOIN attempt_urls ON attempt_urls.attempt = attempts.id AND attempt_urls.position = attempt_names.position`,
      jsonList(names),
      this.profile,
    );
  }

  /** All names for the attempt of a token, or the batch is undone. */
  taking(token: string, names: readonly string[], from: readonly number[] | 'any'): Statement[] {
    const wanted = this.#wanted(names);
    if (wanted.length === 0) return [];
    return [
      {
        sql: `INSERT INTO claims (profile, name, attempt)
          SELECT ?, value, attempts.id FROM json_each(?), attempts WHERE attempts.token = ? ${takesOver}`,
        values: [this.profile, jsonList(wanted), token, ...takenOver(from)],
        expects: wanted.length,
      },
    ];
  }

  /** Those names for an attempt that are free, or that these other ones hold; or all of them, from any. */
  takingFor(attempt: number, names: readonly string[], from: readonly number[] | 'any'): Statement {
    return {
      sql: `INSERT INTO claims (profile, name, attempt)
        SELECT ?, value, CAST(? AS BIGINT) FROM json_each(?) WHERE true ${takesOver}`,
      values: [this.profile, attempt, jsonList(this.#wanted(names)), ...takenOver(from)],
    };
  }

  /** How many claims these names are. */
  count(names: readonly string[]): number {
    return this.#wanted(names).length;
  }

  async release(attempt: number): Promise<void> {
    await this.db.batch(this.releasing(attempt));
  }

  /** If the attempt was refused, what it holds goes to another that has the name and was not, or to none. */
  releasing(attempt: number): Statement[] {
    const heir = `(SELECT attempts.id FROM attempt_names CROSS JOIN attempts ON attempts.id = attempt_names.attempt
      WHERE attempt_names.name = claims.name AND attempts.profile = claims.profile AND attempts.id <> claims.attempt
      AND attempts.test = 0 AND attempts.status <> 'refused'
      ORDER BY attempts.status = 'placed' DESC, attempts.id DESC LIMIT 1)`;
    const held = `profile = ? AND attempt = ?
      AND EXISTS (SELECT 1 FROM attempts WHERE attempts.id = claims.attempt AND attempts.status = 'refused')`;
    const values = [this.profile, attempt];
    return [
      { sql: `UPDATE claims SET attempt = ${heir} WHERE ${held} AND ${heir} IS NOT NULL`, values },
      { sql: `DELETE FROM claims WHERE ${held}`, values },
    ];
  }

  /** In sorted order, so that no two orders wait for each other. */
  #wanted(names: readonly string[]): string[] {
    return [...new Set(names.map((name) => this.#stored(name)))].sort();
  }

  #stored(name: string): string {
    return keptText(storedName(this.hide(name)));
  }
}

/** What is on order counts more than what is being sent, then what was accepted, then what may have been. */
function weight(holder: Holder | undefined): number {
  if (!holder) return 0;
  if (holder.status === 'unclear') return holder.order ? 2 : 1;
  return holder.status === 'placed' ? 4 : 3;
}

const holderFor = (name: string, holder: Holder | undefined): Array<[string, Holder]> =>
  holder ? [[name, holder]] : [];

const holderOf = (row: HolderRow, isShared: boolean): Holder => ({
  attempt: row.attempt,
  status: row.status === 'placed' ? 'placed' : openStatus(row.status, row, isShared),
  at: row.started_at,
  order: row.order_id ?? '',
  url: row.url ?? '',
  spelling: row.spelling ?? '',
  answered: row.status === 'uncertain',
  endedAgoMs: Date.parse(row.now) - Date.parse(row.ended_at ?? row.started_at),
  tracked: row.detail === TRACKED,
  by: senderText(row),
  other: otherSender(row),
});

/** The status of an attempt whose outcome is not written yet. */
export function openStatus(status: string, row: SenderRow, isShared: boolean): 'unclear' | 'being sent' {
  const { host, pid, process_start: start, seen_at: seenAt, now } = row;
  if (status !== 'sending' || seenAt === null) return 'unclear';
  const isSent = holdsLease({ host, pid, start, seenAt }, { nowMs: Date.parse(now), isShared });
  return isSent ? 'being sent' : 'unclear';
}
