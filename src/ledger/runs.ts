/** The listeners that run or ran: who does which actions. */
import { hostname } from 'node:os';
import { isRunning } from '../lib/processes.ts';
import { Table, timestamp } from './table.ts';

export interface RunRow {
  readonly id: number;
  readonly host: string;
  readonly pid: number;
  readonly seen_at: string;
}

/** A listener writes a heartbeat at least this often; one that misses three has ended. */
const HEARTBEAT_INTERVAL_MS = 10_000;
const MAX_SILENCE_MS = 3 * HEARTBEAT_INTERVAL_MS;

export class Runs extends Table {
  begin(): number {
    const now = timestamp();
    const row = this.db.get<{ id: number }>(
      'INSERT INTO runs (profile, host, pid, started_at, seen_at) VALUES (?, ?, ?, ?, ?) RETURNING id',
      this.profile,
      hostname(),
      process.pid,
      now,
      now,
    );
    return Number(row?.id);
  }

  /** A session for what a listener left in its journal: its actions are taken over like those of any that broke off. */
  addEnded(): number {
    const run = this.begin();
    this.end(run);
    return run;
  }

  heartbeat(run: number): void {
    this.db.run('UPDATE runs SET seen_at = ? WHERE id = ?', timestamp(), run);
  }

  end(run: number): void {
    this.db.run('UPDATE runs SET ended_at = ? WHERE id = ?', timestamp(), run);
  }

  /** Other listeners of this profile that are running now. */
  running(): number[] {
    const rows = this.db.all<RunRow>(
      'SELECT id, host, pid, seen_at FROM runs WHERE profile = ? AND ended_at IS NULL',
      this.profile,
    );
    return rows.filter(isRunningListener).map(({ id }) => id);
  }
}

export function isRunningListener({ host, pid, seen_at }: RunRow): boolean {
  const silent = Date.now() - Date.parse(seen_at) > MAX_SILENCE_MS;
  if (host !== hostname() || silent) return !silent;
  // A row with our own process id is of an earlier process: in a container each has the same.
  return pid !== process.pid && isRunning(pid);
}
