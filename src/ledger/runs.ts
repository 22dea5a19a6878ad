/** The listeners that run or ran: whose work is whose, and which webhook has to be put back. */
import { hostname } from 'node:os';
import { isRunning } from '../lib/processes.ts';
import type { Database } from '../lib/sqlite.ts';

export interface Registration {
  readonly run: number;
  readonly webhook: string;
  /** What stood there before; empty if nothing did. */
  readonly former: string;
}

interface RunRow {
  readonly id: number;
  readonly host: string;
  readonly pid: number;
  readonly seen_at: string;
}

/** A listener says that often that it lives; one that was silent for three times as long does not. */
export const HEARTBEAT = 10_000;
const SILENCE = 3 * HEARTBEAT;

export class Runs {
  readonly #db: Database;
  readonly #profile: string;

  constructor(db: Database, profile: string) {
    this.#db = db;
    this.#profile = profile;
  }

  begin(): number {
    const now = new Date().toISOString();
    const row = this.#db.get<{ id: number }>(
      'INSERT INTO runs (profile, host, pid, started_at, seen_at) VALUES (?, ?, ?, ?, ?) RETURNING id',
      this.#profile,
      hostname(),
      process.pid,
      now,
      now,
    );
    return Number(row?.id);
  }

  lives(run: number): void {
    this.#db.run('UPDATE runs SET seen_at = ? WHERE id = ?', new Date().toISOString(), run);
  }

  end(run: number): void {
    this.#db.run('UPDATE runs SET ended_at = ? WHERE id = ?', new Date().toISOString(), run);
  }

  /** Other listeners of this profile that are at work now. */
  alive(): number[] {
    const rows = this.#db.all<RunRow>(
      'SELECT id, host, pid, seen_at FROM runs WHERE profile = ? AND ended_at IS NULL',
      this.#profile,
    );
    return rows.filter(isAlive).map(({ id }) => id);
  }

  /** To be written before the webhook is set, so that a crash at any point leaves a trace. */
  registers({ run, webhook, former }: Registration): void {
    this.#db.durable(() =>
      this.#db.run('UPDATE runs SET webhook = ?, former_webhook = ? WHERE id = ?', webhook, former, run),
    );
  }

  /** A listener that ends hands its former webhook on to those that came after it. */
  handOn({ webhook, former }: Registration): void {
    this.#db.run(
      'UPDATE runs SET former_webhook = ? WHERE profile = ? AND webhook IS NOT NULL AND former_webhook = ?',
      former,
      this.#profile,
      webhook,
    );
  }

  formerOf(run: number): string | undefined {
    return this.#db.get<{ former: string }>('SELECT former_webhook AS former FROM runs WHERE id = ?', run)
      ?.former;
  }

  restored(run: number): void {
    this.#db.run('UPDATE runs SET webhook = NULL WHERE id = ?', run);
  }

  /** Webhooks that listeners which are gone did not put back, oldest first. */
  unrestored(): Registration[] {
    const alive = this.alive();
    return this.#db
      .all<{ id: number; webhook: string; former_webhook: string }>(
        'SELECT id, webhook, former_webhook FROM runs WHERE profile = ? AND webhook IS NOT NULL ORDER BY id',
        this.#profile,
      )
      .filter(({ id }) => !alive.includes(id))
      .map(({ id, webhook, former_webhook }) => ({ run: id, webhook, former: former_webhook }));
  }
}

function isAlive({ host, pid, seen_at }: RunRow): boolean {
  const silent = Date.now() - Date.parse(seen_at) > SILENCE;
  if (host !== hostname() || silent) return !silent;
  // A row with our own number was written by an earlier process: in a container every one has the same.
  return pid !== process.pid && isRunning(pid);
}
