/**
 * What listeners know of files: what events say of them, whose event is still expected, and which are polled. Events are
 * unsigned, so none changes what the service said: it is shown as a hint, and leads to a poll, whose answer decides.
 */
import { orderSkus, targetDaysOf } from '../catalog/skus.ts';
import { nowMs } from '../lib/time.ts';
import { hasNews, SKUS_NOW } from './files.ts';
import { URL_OF_FILE } from './pairing.ts';
import type { Statement } from './stores/store.ts';
import { jsonList, NOW, Table } from './table.ts';

/** What an event says, as far as it concerns files and orders. */
export interface EventContent {
  readonly event: string;
  readonly audiofile: string;
  readonly order: string;
  readonly files: readonly string[];
  readonly hold: string;
  readonly original: string;
}

/** A file that is delivered, and whose event was expected and has not come. */
export interface MissedFile {
  readonly id: string;
  readonly order_id: string;
  readonly url: string;
  /** It came after all, before the file itself was in the ledger; of an upgraded one, after that. */
  readonly came_early: unknown;
}

const DAY_MS = 86_400_000;
/** Of a SKU without a target, and of a file that was ordered elsewhere: as the fastest one that has a target. */
const DEFAULT_TARGET_DAYS = Math.min(...orderSkus.flatMap(({ targetDays }) => targetDays ?? []));
/** Files a transaction: some milliseconds, in which nothing else is done. */
const SLICE = 100;
/** A poll that lies further ahead than this was noted while the clock was wrong. */
const MAX_AHEAD_MS = 60_000;

/** As in the indexes. */
const isOpen = "profile = ? AND ended = '' AND test = 0";

interface NewFile {
  readonly seq: number;
  /** When its present SKUs were ordered. */
  readonly since: string;
  readonly skus: string | null;
}

export class FileWatch extends Table {
  /** Notes what an event says; for use within a transaction. */
  async applyEvent({ event, audiofile, order, files, hold, original }: EventContent): Promise<void> {
    switch (event) {
      case 'TRANSCRIPT_COMPLETE':
        await this.#updateFile(audiofile, "hint = 'said to be complete', awaited = 0, completed = 1");
        break;
      case 'REFUND_ISSUED':
        if (audiofile) await this.#updateFile(audiofile, "hint = 'said to be refunded'");
        else await this.#updateOpenFiles(order, "hint = 'said to be refunded'");
        break;
      case 'DIFFICULT_AUDIO':
        await this.#updateFile(audiofile, "remark = 'difficult audio'");
        break;
      case 'DUPLICATE_FILE':
        await this.#updateFile(audiofile, 'remark = ?', `duplicate of ${original || 'another file'}`);
        break;
      case 'CC_AUTH_FAILURE':
        await this.#updateOpenFiles(order, "remark = 'card refused'");
        break;
      case 'ORDER_ON_HOLD':
        await Promise.all([
          ...files.map((file) => this.#updateFile(file, "hint = 'said to be on hold'")),
          this.#updateOpenFiles(order, "hint = 'said to be on hold'"),
          this.#setHold(order, hold || 'held'),
        ]);
        break;
      default:
        // Whatever it says, the service is asked what became of the file.
        await Promise.all(files.map((file) => this.#updateFile(file)));
        break;
    }
  }

  async #updateFile(id: string, set = '', ...values: string[]): Promise<void> {
    if (id) await this.#update(set, 'profile = ? AND id = ?', ...values, this.profile, id);
  }

  async #updateOpenFiles(order: string, set: string): Promise<void> {
    if (order) await this.#update(set, "profile = ? AND order_id = ? AND ended = ''", this.profile, order);
  }

  #update(set: string, where: string, ...values: string[]): Promise<number> {
    const sets = [`heard_at = ${NOW}`, ...(set ? [set] : [])].join(', ');
    return this.db.run(`UPDATE files SET ${sets} WHERE ${where}`, ...values);
  }

  /** As long as the service has named no hold itself. */
  async #setHold(order: string, hold: string): Promise<void> {
    if (!order) return;
    await this.db.run(
      'UPDATE purchases SET hold = ? WHERE profile = ? AND order_id = ? AND hold IS NULL',
      hold,
      this.profile,
      order,
    );
  }

  /** Those that were seen to be delivered before `until` (ISO 8601). */
  missed(until: string): Promise<MissedFile[]> {
    return this.db.all<MissedFile>(
      `SELECT id, order_id, ${URL_OF_FILE} AS url, EXISTS (SELECT 1 FROM events
         WHERE events.profile = files.profile AND events.audiofile = files.id AND events.audiofile <> ''
         AND events.source = 'received' AND events.event = 'TRANSCRIPT_COMPLETE'
         AND events.received_at >= coalesce(files.upgraded_at, '')) AS came_early
       FROM files WHERE profile = ? AND awaited = 1 AND ended = 'delivered' AND changed_at < ?
       ORDER BY seq LIMIT 1000`,
      this.profile,
      this.byItsClock(until),
    );
  }

  /** Expects the event of a file no longer; false if it has come, or if another listener was faster. */
  async stopExpecting(id: string): Promise<boolean> {
    const changed = await this.db.run(
      'UPDATE files SET awaited = 0, completed = 1 WHERE profile = ? AND id = ? AND awaited = 1',
      this.profile,
      id,
    );
    return changed > 0;
  }

  /** Remembers the event that was made in place of a file's delivery, in case that still comes. */
  setSubstitute(id: string, event: number): Promise<number> {
    return this.db.run('UPDATE files SET found = ? WHERE profile = ? AND id = ?', event, this.profile, id);
  }

  /** Pairs a delivery with the event that was made in its place; false if another delivery has that already. */
  async pairWithSubstitute(id: string, substitute: number, delivery: number): Promise<boolean> {
    const changed = await this.db.run(
      'UPDATE files SET found = NULL WHERE profile = ? AND id = ? AND found = ?',
      this.profile,
      id,
      substitute,
    );
    if (changed === 0) return false;
    const setOther = 'UPDATE events SET duplicate = ? WHERE id = ?';
    await this.db.run(setOther, delivery, substitute);
    await this.db.run(setOther, substitute, delivery);
    return true;
  }

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
          polled_at = CASE WHEN checked_at < ? THEN checked_at ELSE '' END
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
      `SELECT id FROM files WHERE ${isOpen} AND due_since > '' AND polled_at < ? ORDER BY polled_at LIMIT ?`,
      this.profile,
      this.byItsClock(before),
      limit,
    );
  }

  /** Files that the service could not tell about come in turn again, after the others. */
  noteFailed(ids: readonly string[]): Promise<number> {
    const now = this.timestamp();
    return this.db.run(
      `UPDATE files SET polled_at = ?, due_since = CASE WHEN due_since < ? THEN ? ELSE due_since END
       WHERE profile = ? AND due_since > '' AND id IN (SELECT value FROM json_each(?))`,
      ...[now, now, now, this.profile, jsonList(ids)],
    );
  }

  /** Takes files in anew that were asked about in the future: the clock was wrong then. */
  async forgetFuturePolls(): Promise<number> {
    const latest = this.byItsClock(new Date(nowMs() + MAX_AHEAD_MS).toISOString());
    return this.db.run(
      `UPDATE files SET due_since = ''
       WHERE seq IN (SELECT seq FROM files WHERE ${isOpen} AND due_since > '' AND polled_at > ? LIMIT ${SLICE})`,
      ...[this.profile, latest],
    );
  }
}
