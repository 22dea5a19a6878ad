/** The listeners that run or ran, and each `sync --exec`: who does which actions, and what one does for all. */
import { isCertainlyGone, isOfThisMachine, thisProcess } from '../lib/processes.ts';
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

/** A listener that runs, for people. */
export interface RunningListener {
  readonly host: string;
  readonly pid: number;
  readonly started_at: string;
  readonly seen_at: string;
  /** The names of the events that it shows, as JSON; `[]`: all. */
  readonly shows: string;
}

/** A listener writes a heartbeat at least this often; one that misses three has ended. */
export const HEARTBEAT_INTERVAL_MS = 10_000;
export const MAX_SILENCE_MS = 3 * HEARTBEAT_INTERVAL_MS;
/** A listener that could not write its heartbeat for this long: others may have been kept from theirs too, and only seem gone. */
export const AWAY_MS = MAX_SILENCE_MS - HEARTBEAT_INTERVAL_MS;

export const renewLease = `UPDATE runs SET seen_at = ${NOW} WHERE id = ? AND ended_at IS NULL`;

export class Runs extends Table {
  /**
   * `only`: the names of the events that it shows, empty for all; absent where it shows none. Not in a ledger that has
   * moved: the service sends each event once, and it would be kept where nobody looks.
   */
  async begin(only?: readonly string[]): Promise<number> {
    const run = await this.#add(only);
    // After the row is there: whoever marks the ledger as moved sees the one or is seen by the other.
    await refuseMoved(this.db, this.profile).catch(async (error: unknown) => {
      await this.end(run);
      throw error;
    });
    return run;
  }

  async #add(only?: readonly string[]): Promise<number> {
    const { host, pid, start } = thisProcess();
    const row = await this.db.get<{ id: number }>(
      `INSERT INTO runs (profile, host, pid, process_start, started_at, seen_at, shows)
       VALUES (?, ?, ?, ?, ?, ${NOW}, ?) RETURNING id`,
      ...[this.profile, host, pid, start, timestamp(), only ? showsOf(only) : ''],
    );
    return Number(row?.id);
  }

  /** A session whose deliveries waited when it ended: it is taken over like that of any that broke off. */
  async addEnded(only: readonly string[]): Promise<number> {
    const run = await this.begin(only);
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

  /** The same as people know them; a `sync --exec` is none. */
  async listeners(): Promise<RunningListener[]> {
    const rows = await this.db.all<RunRow & RunningListener>(
      `SELECT id, host, pid, process_start, started_at, seen_at, shows, ${NOW} AS now FROM runs
       WHERE profile = ? AND ended_at IS NULL AND shows <> '' ORDER BY id`,
      this.profile,
    );
    return rows.filter((row) => isRunningListener(row, this.db.isShared));
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

  /**
   * Listeners on a shared ledger whose process on this machine has ended. What they did is leased, by the clock of the
   * database alone; what they were to show need not wait for that.
   */
  async endedHere(): Promise<number[]> {
    return this.db.isShared ? (await this.#unended()).filter(({ isGone }) => isGone).map(({ id }) => id) : [];
  }

  /** Listeners on several machines use it. */
  get areShared(): boolean {
    return this.db.isShared;
  }

  /**
   * What one listener, or one `sync --exec`, of an account does for all, as long as it runs or has its lease: takes it on,
   * or keeps it; false if another one has it. For use within a transaction.
   */
  async takeTask(name: string, run: number): Promise<boolean> {
    // On one machine it can be seen which listeners run; elsewhere the end of one that is silent is written down.
    const ended = 'leader_tasks.run NOT IN (SELECT id FROM runs WHERE ended_at IS NULL)';
    const gone = 'leader_tasks.run NOT IN (SELECT value FROM json_each(?))';
    const running = this.areShared ? [] : [JSON.stringify(await this.running())];
    const changed = await this.db.run(
      `INSERT INTO leader_tasks (name, run) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET run = excluded.run
       WHERE leader_tasks.run = excluded.run OR ${this.areShared ? ended : gone}`,
      ...[name, run, ...running],
    );
    return changed > 0;
  }

  leaveTask(name: string, run: number): Promise<number> {
    return this.db.run('DELETE FROM leader_tasks WHERE name = ? AND run = ?', name, run);
  }

  async #unended(): Promise<Array<{ id: number; seenAt: string; isRunning: boolean; isGone: boolean }>> {
    const rows = await this.db.all<RunRow>(
      `SELECT id, host, pid, process_start, seen_at, ${NOW} AS now FROM runs
       WHERE profile = ? AND ended_at IS NULL`,
      this.profile,
    );
    return rows.map((row) => ({
      id: row.id,
      seenAt: row.seen_at,
      isRunning: isRunningListener(row, this.db.isShared),
      isGone: isCertainlyGone({ host: row.host, pid: row.pid, start: row.process_start ?? '' }),
    }));
  }
}

export const showsOf = (only: readonly string[]): string => JSON.stringify([...new Set(only)].sort());

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
