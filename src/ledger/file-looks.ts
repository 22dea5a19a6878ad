/** Which files the service is asked about by a listener: those that events named, and those whose event may be lost. */
import { orderSkus, targetDaysOf } from '../catalog/skus.ts';
import { nowMs } from '../lib/clock.ts';
import { hasNews, SKUS_NOW } from './files.ts';
import type { Statement } from './stores/store.ts';
import { jsonList, Table } from './table.ts';

const DAY_MS = 86_400_000;
/** Of a SKU without a target, and of a file that was ordered elsewhere: as the fastest one that has a target. */
const DEFAULT_TARGET_DAYS = Math.min(...orderSkus.flatMap(({ targetDays }) => targetDays ?? []));
/** Files a transaction: some milliseconds, in which nothing else is done. */
const SLICE = 100;
/** A look that lies further ahead than this was noted while the clock was wrong. */
const MAX_AHEAD_MS = 60_000;

/** As in the indexes. */
const isOpen = "profile = ? AND ended = '' AND test = 0";

interface NewFile {
  readonly seq: number;
  /** When its present SKUs were ordered. */
  readonly since: string;
  readonly skus: string | null;
}

export class FileLooks extends Table {
  /**
   * Takes in some open files that no listener has seen yet: from now on their event is expected, unless it has come, and
   * they get their place among the files to ask about. False when those were all. For use within a transaction.
   */
  async takeInSome(): Promise<boolean> {
    const files = await this.db.all<NewFile>(
      `SELECT files.seq, coalesce(files.upgraded_at, files.ordered_at) AS since, ${SKUS_NOW} AS skus
       FROM files LEFT JOIN purchases ON purchases.id = files.purchase
       WHERE files.profile = ? AND files.ended = '' AND files.test = 0 AND files.due_since = '' LIMIT ${SLICE}`,
      this.profile,
    );
    // In one order, so that no two processes wait for each other.
    files.sort((one, other) => one.seq - other.seq);
    if (files.length) await this.db.batch(files.map((file) => this.#takingIn(file)));
    return files.length === SLICE;
  }

  #takingIn({ seq, since, skus }: NewFile): Statement {
    const days = targetDaysOf((skus ?? '').split(',')) ?? DEFAULT_TARGET_DAYS;
    const now = this.timestamp();
    const orderedMs = Date.parse(since);
    const dueSince = Number.isNaN(orderedMs) ? now : new Date(orderedMs + days * DAY_MS).toISOString();
    return {
      sql: `UPDATE files SET awaited = CASE WHEN completed = 0 THEN 1 ELSE awaited END, due_since = ?,
          looked_at = CASE WHEN checked_at < ? THEN checked_at ELSE '' END
        WHERE seq = ? AND ended = '' AND due_since = ''`,
      values: [dueSince, now, seq],
    };
  }

  /** Files that events named since the service was asked about them, ended or not; none of `except`. */
  named(limit: number, except: readonly string[]): Promise<string[]> {
    return this.ids(
      `SELECT id FROM files WHERE profile = ? AND ${hasNews} AND test = 0
       AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY heard_at LIMIT ?`,
      this.profile,
      jsonList(except),
      limit,
    );
  }

  /** Open files past the target of their SKU that were not asked about since `before` (ISO 8601), in turn. */
  due(before: string, limit: number): Promise<string[]> {
    return this.ids(
      `SELECT id FROM files WHERE ${isOpen} AND due_since > '' AND due_since < ? ORDER BY due_since LIMIT ?`,
      this.profile,
      this.byItsClock(before),
      limit,
    );
  }

  /** All open files that were not asked about since then, those first that were not for the longest time. */
  open(before: string, limit: number): Promise<string[]> {
    return this.ids(
      `SELECT id FROM files WHERE ${isOpen} AND due_since > '' AND looked_at < ? ORDER BY looked_at LIMIT ?`,
      this.profile,
      this.byItsClock(before),
      limit,
    );
  }

  /** Files that the service could not tell about come in turn again, after the others. */
  noteFailed(ids: readonly string[]): Promise<number> {
    const now = this.timestamp();
    return this.db.run(
      `UPDATE files SET looked_at = ?, due_since = CASE WHEN due_since < ? THEN ? ELSE due_since END
       WHERE profile = ? AND due_since > '' AND id IN (SELECT value FROM json_each(?))`,
      ...[now, now, now, this.profile, jsonList(ids)],
    );
  }

  /** Takes files in anew that were asked about in the future: the clock was wrong then. */
  async forgetFutureLooks(): Promise<number> {
    const latest = this.byItsClock(new Date(nowMs() + MAX_AHEAD_MS).toISOString());
    return this.db.run(
      `UPDATE files SET due_since = ''
       WHERE seq IN (SELECT seq FROM files WHERE ${isOpen} AND due_since > '' AND looked_at > ? LIMIT ${SLICE})`,
      ...[this.profile, latest],
    );
  }
}
