/** The events that a listener expects for open files, and what stands in for one that never came. */

import { jsonList, Table } from './table.ts';

export interface MissedFile {
  readonly id: string;
  readonly order_id: string;
  readonly url: string;
}

export class ExpectedEvents extends Table {
  /** Files that were seen to be delivered before `until` (ISO 8601), and whose event was expected and has not come. */
  missed(until: string): Promise<MissedFile[]> {
    return this.db.all<MissedFile>(
      `SELECT id, order_id, url FROM files
       WHERE profile = ? AND awaited = 1 AND ended = 'delivered' AND changed_at < ? ORDER BY seq LIMIT 1000`,
      this.profile,
      this.byItsClock(until),
    );
  }

  /** Those of these files whose event came before the file itself was in the ledger; of an upgraded one, after that. */
  async cameEarly(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    return new Set(
      await this.ids(
        `SELECT DISTINCT audiofile AS id FROM events WHERE profile = ? AND source = 'received'
         AND event = 'TRANSCRIPT_COMPLETE' AND audiofile <> '' AND audiofile IN (SELECT value FROM json_each(?))
         AND received_at >= coalesce((SELECT upgraded_at FROM files
           WHERE files.profile = events.profile AND files.id = events.audiofile), '')`,
        this.profile,
        jsonList(ids),
      ),
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
    const setTwin = 'UPDATE events SET twin = ? WHERE id = ?';
    await this.db.run(setTwin, delivery, substitute);
    await this.db.run(setTwin, substitute, delivery);
    return true;
  }
}
