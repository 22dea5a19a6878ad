/** Something that one listener at a time does for an account, on this machine or on all that share its ledger. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Duties } from '../ledger/duties.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { monotonicMs } from '../lib/clock.ts';
import type { GroupCommit } from './group-commit.ts';
import type { SessionRun } from './session-run.ts';

export interface DutyOptions {
  readonly ledger: Ledger;
  readonly commits: GroupCommit;
  readonly run: SessionRun;
  readonly name: string;
  /** Listeners of one machine need not share it: they know of each other in another way. */
  readonly onlyIfShared?: boolean;
}

const ASK_AGAIN_MS = 200;

export class Duty {
  readonly #options: DutyOptions;

  constructor(options: DutyOptions) {
    this.#options = options;
  }

  /** Takes it on, or keeps it; false if another listener has it. */
  async take(): Promise<boolean> {
    const { commits, run, name } = this.#options;
    return !this.#isKept || commits.add((tables) => new Duties(tables).take(name, run.id));
  }

  /** Waits for another listener that has it, but no longer than this: it may hang. */
  async takeWithin(milliseconds: number, signal?: AbortSignal): Promise<void> {
    const end = monotonicMs() + milliseconds;
    while (!(await this.take()) && monotonicMs() < end && !signal?.aborted) await sleep(ASK_AGAIN_MS);
  }

  /** Where that fails, it is free when the session has ended. */
  async leave(): Promise<void> {
    const { commits, run, name } = this.#options;
    if (this.#isKept) await commits.add((tables) => new Duties(tables).leave(name, run.id)).catch(() => {});
  }

  /** Whether the ledger says who has it. */
  get #isKept(): boolean {
    const { ledger, onlyIfShared = false } = this.#options;
    return new Duties(ledger).areShared || !onlyIfShared;
  }
}
