/** The listeners that run or ran, and each `sync --exec`: who does which actions. */
import { isOfThisMachine, thisProcess } from '../lib/processes.ts';
import { holdsLease } from './lease.ts';
import { refuseMoved } from './moved.ts';
import { NOW, Table, timestamp } from './table.ts';

export interface RunRow {
  readonly id: number;
  readonly host: string;
  readonly pid: number;
  readonly process_start?: string;
  readonly seen_at: string;
  /** By the clock of the ledger. */
  readonly now: string;
}

/** A listener writes a heartbeat at least this often; one that misses three has ended. */
export const HEARTBEAT_INTERVAL_MS = 10_000;
export const MAX_SILENCE_MS = 3 * HEARTBEAT_INTERVAL_MS;
/** A listener that could not write its heartbeat for this long: others may have been kept from theirs too, and only seem gone. */
export const AWAY_MS = MAX_SILENCE_MS - HEARTBEAT_INTERVAL_MS;

export const renewLease = `UPDATE runs SET seen_at = ${NOW} WHERE id = ? AND ended_at IS NULL`;

export class Runs extends Table {
  /** Not in a ledger that has moved: the service sends each event once, and it would be kept where nobody looks. */
  async begin(): Promise<number> {
    const run = await this.#add();
    // After the row is there: whoever marks the ledger as moved sees the one or is seen by the other.
    await refuseMoved(this.db, this.profile).catch(async (error: unknown) => {
      await this.end(run);
      throw error;
    });
    return run;
  }

  async #add(): Promise<number> {
    const { host, pid, start } = thisProcess();
    const row = await this.db.get<{ id: number }>(
      `INSERT INTO runs (profile, host, pid, process_start, started_at, seen_at) VALUES (?, ?, ?, ?, ?, ${NOW})
       RETURNING id`,
      ...[this.profile, host, pid, start, timestamp()],
    );
    return Number(row?.id);
  }

  /** A session for what a listener left in its journal: its actions are taken over like those of any that broke off. */
  async addEnded(): Promise<number> {
    const run = await this.begin();
    await this.end(run);
    return run;
  }

  /** Renews the lease of a run; false if it was silent for so long that another listener has ended it. */
  async heartbeat(run: number): Promise<boolean> {
    return (await this.db.run(renewLease, run)) > 0;
  }

  end(run: number): Promise<number> {
    return this.db.run('UPDATE runs SET ended_at = ? WHERE id = ?', timestamp(), run);
  }

  /** Other listeners of this profile that are running now. */
  async running(): Promise<number[]> {
    return (await this.#unended()).filter(({ isRunning }) => isRunning).map(({ id }) => id);
  }

  /**
   * Listeners of this profile, but for `own`, that are gone without having written that they end. On a shared ledger their
   * end is written here: one that is back after all sees it, and does not go on with what others have by then.
   */
  async gone(own: number): Promise<number[]> {
    const gone = (await this.#unended()).filter((run) => !run.isRunning && run.id !== own);
    if (this.db.isShared) {
      const sql = 'UPDATE runs SET ended_at = ? WHERE id = ? AND seen_at = ? AND ended_at IS NULL';
      await Promise.all(gone.map(({ id, seenAt }) => this.db.run(sql, timestamp(), id, seenAt)));
      return [];
    }
    return gone.map(({ id }) => id);
  }

  async #unended(): Promise<Array<{ id: number; seenAt: string; isRunning: boolean }>> {
    const rows = await this.db.all<RunRow>(
      `SELECT id, host, pid, process_start, seen_at, ${NOW} AS now FROM runs
       WHERE profile = ? AND ended_at IS NULL`,
      this.profile,
    );
    return rows.map((row) => ({
      id: row.id,
      seenAt: row.seen_at,
      isRunning: isRunningListener(row, this.db.isShared),
    }));
  }
}

/** Like a lease; a listener on this machine is alive as long as its process, whatever the clock was set to meanwhile. */
export function isRunningListener(row: RunRow, isShared: boolean): boolean {
  const { host, pid, process_start: start = '', seen_at: seenAt, now } = row;
  const lease = { host, pid, start, seenAt };
  const isHere = !isShared && isOfThisMachine(lease);
  // A row with our own process id is of an earlier process or session.
  if (isHere && pid === process.pid) return false;
  const nowMs = Date.parse(isHere && seenAt > now ? seenAt : now);
  return holdsLease(lease, { nowMs, isShared, maxSilenceMs: MAX_SILENCE_MS });
}
