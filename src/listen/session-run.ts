/** What the parts of a session share: its context, its place in the ledger, and what it does for other listeners too. */

import type { Transport } from '../api/http/transport.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { AWAY_MS, MAX_SILENCE_MS, Runs } from '../ledger/runs.ts';
import { monotonicMs } from '../lib/time.ts';
import type { Action } from './action.ts';
import type { LedgerWatch, OnError } from './background.ts';
import type { Commits } from './commits.ts';
import type { ListenPlan, SessionCallbacks, SessionResources } from './plan.ts';
import type { SessionEnd, Tally } from './session-end.ts';

/** What every part of a session works with. */
export interface SessionContext {
  readonly plan: ListenPlan;
  readonly resources: SessionResources;
  readonly callbacks: SessionCallbacks;
  readonly end: SessionEnd;
  readonly tally: Tally;
  readonly onError: OnError;
  /** Absent where no account is set up. Its calls end with the session. */
  readonly service: Transport | undefined;
  readonly ledger: Ledger;
  readonly run: SessionRun;
  /** Every write of the session to the ledger goes through it. */
  readonly commits: Commits;
  readonly watch: LedgerWatch;
  readonly actions: readonly Action[];
  /** Ends the actions that are under way. */
  readonly abort: AbortController;
  readonly tickMs: number;
  /** 1, or less in tests: the factor of all pauses. */
  readonly pace: number;
}

/**
 * A session in the ledger: its number, and its lease, without which nothing new is begun. It begins with the first commit
 * where the ledger can't be reached before.
 */
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
  get canTellWhoIsGone(): boolean {
    const now = monotonicMs();
    return now - this.#heartbeatAt <= AWAY_MS && now - this.#backAt > MAX_SILENCE_MS;
  }

  /** Renews the lease. After that was lost it begins anew: what it had to do may be another listener's by now. */
  async renew(commits: Commits): Promise<void> {
    this.id = await commits.add(async (tables) => {
      if (await new Runs(tables).heartbeat(this.id)) return this.id;
      return new Runs(tables).begin(this.#only);
    });
    this.#noteHeartbeat();
  }

  #noteHeartbeat(): void {
    const now = monotonicMs();
    if (now - this.#heartbeatAt > AWAY_MS) this.#backAt = now;
    this.#heartbeatAt = now;
  }
}

/** Something that one listener at a time does for an account, on this machine or on all that share its ledger. */
export class LeaderTask {
  readonly #session: SessionContext;
  readonly #name: string;

  constructor(session: SessionContext, name: string) {
    this.#session = session;
    this.#name = name;
  }

  /** Takes it on, or keeps it; false if another listener has it. */
  async take(): Promise<boolean> {
    const { commits, run } = this.#session;
    return commits.add((tables) => new Runs(tables).takeTask(this.#name, run.id));
  }

  /** Where that fails, it is free when the session has ended. */
  async leave(): Promise<void> {
    const { commits, run } = this.#session;
    await commits.add((tables) => new Runs(tables).leaveTask(this.#name, run.id)).catch(() => {});
  }
}
