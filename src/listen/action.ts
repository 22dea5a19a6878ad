/** What can be done about an event, as its queue sees it. */

import { hostname } from 'node:os';
import type { ActionRule } from '../ledger/waiting.ts';
import { cutSignatures } from '../lib/signatures.ts';
import { maskUserinfo } from '../lib/url.ts';
import type { ReceivedEvent } from './event.ts';

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
  readonly via: string;
  readonly signal: AbortSignal;
}

/** `target` is what the ledger and people are told; it holds no secret. */
export interface Action extends ActionRule {
  readonly kind: 'forward' | 'exec' | 'download';
  /** How many run at once; a file of the ledger has one more where unknown ones hold all. */
  readonly jobs: number;
  /** Each try is written down before it begins, so that a second one is known to be one. */
  readonly recordsTries?: boolean;
  /** The next listener tries again what this one gave up. */
  readonly retriedByNext: boolean;
  readonly retries: (isUnknown: boolean) => RetrySchedule;
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

/** When an action that failed is tried again, and when it is given up. */
export interface RetrySchedule {
  readonly firstPauseMs: number;
  /** Each pause is this many times as long as the one before. */
  readonly growth: number;
  readonly maxPauseMs: number;
  /** The longest pause as long as it has not failed for ten minutes. */
  readonly earlyMaxPauseMs?: number;
  readonly giveUpAfterMs: number;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const EARLY_MS = 10 * MINUTE_MS;

/** No pause is longer. */
export const MAX_PAUSE_MS = HOUR_MS;
/** How long the next listener tries at least what has failed for long. */
export const ADOPTED_MS = EARLY_MS;

/** For what goes to a server of the user's. */
export const targetRetries: RetrySchedule = {
  firstPauseMs: SECOND_MS / 2,
  growth: 2,
  maxPauseMs: 5 * MINUTE_MS,
  earlyMaxPauseMs: 30 * SECOND_MS,
  giveUpAfterMs: DAY_MS,
};

/** For a file of the ledger: its transcript may take days. */
export const fileRetries: RetrySchedule = {
  firstPauseMs: SECOND_MS / 2,
  growth: 2,
  maxPauseMs: 10 * MINUTE_MS,
  giveUpAfterMs: 30 * DAY_MS,
};

/** For a file that the ledger does not know: anyone can make up any number of them. */
export const unknownFileRetries: RetrySchedule = {
  firstPauseMs: 2 * SECOND_MS,
  growth: 4,
  maxPauseMs: MAX_PAUSE_MS,
  giveUpAfterMs: DAY_MS,
};

/** The pause after this many failures, the first of which was `failingMs` ago; undefined: give up. */
export function pauseAfter(schedule: RetrySchedule, failures: number, failingMs: number): number | undefined {
  const { firstPauseMs, growth, maxPauseMs, earlyMaxPauseMs = maxPauseMs, giveUpAfterMs } = schedule;
  if (failingMs >= giveUpAfterMs) return undefined;
  const longest = failingMs < EARLY_MS ? earlyMaxPauseMs : maxPauseMs;
  return Math.min(longest, firstPauseMs * growth ** (failures - 1));
}

/**
 * What the ledger and people are told of a command or an address. A text without secrets is its own name. One that holds a
 * secret is named by what is left of it and by this machine: only a listener here resumes it.
 */
export function targetName(text: string, hide: (text: string) => string): string {
  const unmarked = cutSignatures(maskUserinfo(hide(text)));
  return unmarked === text ? text : `${unmarked} @${hostname()}`;
}
