/**
 * A session in the ledger: its number, and its lease, without which nothing new is begun. It begins with the first commit
 * where the ledger can't be reached before.
 */
import type { Ledger } from '../ledger/ledger.ts';
import { AWAY_MS, MAX_SILENCE_MS, Runs } from '../ledger/runs.ts';
import { WebhookLoans } from '../ledger/webhook-loans.ts';
import { monotonicMs } from '../lib/clock.ts';
import type { GroupCommit } from './group-commit.ts';

export class SessionRun {
  /** 0: the ledger knows nothing of it yet. */
  id = 0;
  /** The names of the events that it shows; empty: all. */
  readonly #only: readonly string[];
  /** When the ledger last took a heartbeat of this listener. */
  #heartbeatAt = monotonicMs();
  /** When it did so after it could not be reached for long. */
  #backAt = Number.NEGATIVE_INFINITY;

  constructor(only: readonly string[]) {
    this.#only = only;
  }

  get isBegun(): boolean {
    return this.id !== 0;
  }

  async begin(ledger: Ledger): Promise<void> {
    this.id = await new Runs(ledger).begin(this.#only);
    this.#noteHeartbeat();
  }

  /**
   * Whether listeners that are silent are gone. After the ledger could not be reached, each of them has MAX_SILENCE_MS to
   * write its next heartbeat.
   */
  get canJudgeOthers(): boolean {
    const now = monotonicMs();
    return now - this.#heartbeatAt <= AWAY_MS && now - this.#backAt > MAX_SILENCE_MS;
  }

  /** Renews the lease. After that was lost it begins anew: what it had to do may be another listener's by now. */
  async renew(commits: GroupCommit): Promise<void> {
    this.id = await commits.add(async (tables) => {
      if (await new Runs(tables).heartbeat(this.id)) return this.id;
      const id = await new Runs(tables).begin(this.#only);
      await new WebhookLoans(tables).passOn(this.id, id);
      return id;
    });
    this.#noteHeartbeat();
  }

  #noteHeartbeat(): void {
    const now = monotonicMs();
    if (now - this.#heartbeatAt > AWAY_MS) this.#backAt = now;
    this.#heartbeatAt = now;
  }
}
