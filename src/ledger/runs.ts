/** The listeners that run or ran: who does which actions, and which webhook has to be put back. */
import { hostname } from 'node:os';
import { isRunning } from '../lib/processes.ts';
import { Table, timestamp } from './table.ts';

export interface Registration {
  readonly run: number;
  readonly webhook: string;
  /** The webhook before; empty if there was none. */
  readonly former: string;
}

interface RunRow {
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

  /** Must be synced to disk before the webhook is set, so that a crash at any point leaves a trace. */
  recordWebhook({ run, webhook, former }: Registration): void {
    this.db.run('UPDATE runs SET webhook = ?, former_webhook = ? WHERE id = ?', webhook, former, run);
  }

  /** A listener that ends passes its former webhook to the listener that replaced it. */
  passOnFormerWebhook({ webhook, former }: Registration): void {
    this.db.run(
      'UPDATE runs SET former_webhook = ? WHERE profile = ? AND webhook IS NOT NULL AND former_webhook = ?',
      former,
      this.profile,
      webhook,
    );
  }

  formerWebhook(run: number): string | undefined {
    return this.db.get<{ former: string }>('SELECT former_webhook AS former FROM runs WHERE id = ?', run)
      ?.former;
  }

  markRestored(run: number): void {
    this.db.run('UPDATE runs SET webhook = NULL WHERE id = ?', run);
  }

  /** Webhooks that ended listeners did not put back, oldest first. */
  unrestored(): Registration[] {
    const running = this.running();
    return this.db
      .all<{ id: number; webhook: string; former_webhook: string }>(
        'SELECT id, webhook, former_webhook FROM runs WHERE profile = ? AND webhook IS NOT NULL ORDER BY id',
        this.profile,
      )
      .filter(({ id }) => !running.includes(id))
      .map(({ id, webhook, former_webhook }) => ({ run: id, webhook, former: former_webhook }));
  }
}

function isRunningListener({ host, pid, seen_at }: RunRow): boolean {
  const silent = Date.now() - Date.parse(seen_at) > MAX_SILENCE_MS;
  if (host !== hostname() || silent) return !silent;
  // A row with our own process id is of an earlier process: in a container each has the same.
  return pid !== process.pid && isRunning(pid);
}
