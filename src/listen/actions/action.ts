/** What can be done about an event, as its queue sees it. */
import type { ActionRule } from '../../ledger/actions.ts';
import type { ReceivedEvent } from '../event.ts';
import type { RetrySchedule } from './schedule.ts';

export interface Outcome {
  /**
   * `retry`: it failed, which says nothing about other events, and is tried again later; `down`: the target can't be
   * reached, so other events need not be tried.
   */
  readonly end: 'done' | 'failed' | 'retry' | 'down';
  /** In a few words, for the ledger and the screen. */
  readonly text: string;
  /** The files that it saved. */
  readonly saved?: readonly string[];
}

/** Which try of an action this is, and what is known of its event. */
export interface Try {
  /** Counted from 1, over restarts. */
  readonly attempt: number;
  /** The listeners that the event has passed. */
  readonly hops: string;
  readonly signal: AbortSignal;
}

/** `target` is what the ledger and people are told; it holds no secret. */
export interface Action extends ActionRule {
  readonly kind: 'forward' | 'exec' | 'download';
  /** How many run at once. */
  readonly jobs: number;
  /** How many of them may be about files that the ledger does not know; if all, a file of the ledger has one more. */
  readonly strangerJobs: number;
  /** Each try is written down before it begins, so that a second one is known to be one. */
  readonly recordsTries?: boolean;
  /** The next listener tries again what this one gave up. */
  readonly retriedByNext: boolean;
  readonly retries: (isStranger: boolean) => RetrySchedule;
  /** What a try finds out holds for every event of the same file. */
  readonly perFile?: boolean;
  /** After this many events in a row that it refused, the target counts as down; absent: never. */
  readonly downAfterRefusals?: number;
  run(event: ReceivedEvent, attempt: Try): Promise<Outcome>;
  close?(): Promise<void>;
}

export interface ActionReport {
  readonly action: Action;
  readonly event?: ReceivedEvent;
  /**
   * `down` and `back` are about the target and reported once, with the event that found it out; `later` is about an
   * event that is tried again, after its first try; `failed` without an event is about several that are given up.
   */
  readonly what: 'done' | 'failed' | 'later' | 'down' | 'back';
  readonly outcome: string;
  readonly saved?: readonly string[] | undefined;
  /** Of `later` and `down`: ISO 8601, where it is known. */
  readonly nextTryAt?: string | undefined;
}
