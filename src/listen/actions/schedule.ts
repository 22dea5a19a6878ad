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
export const strangerRetries: RetrySchedule = {
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
