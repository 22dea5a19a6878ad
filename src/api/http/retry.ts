import type { CallError } from './failures.ts';

const MAX_TRIES = 4;
const FIRST_PAUSE_MS = 250;
/** When the service asks to wait longer than this, the error is shown instead. */
const MAX_PAUSE_MS = 60_000;

/** No further pause begins after this time: a long Retry-After is kept once, but not again and again. */
const MAX_RETRYING_MS = 30_000;

export interface Tries {
  /** How often it was sent. */
  readonly count: number;
  /** Since it first failed. */
  readonly sinceFirstMs: number;
  readonly remainingMs: number;
}

/** How long to wait before a read is sent again; undefined where it is not to be repeated. */
export function pauseBeforeRetry(
  error: CallError,
  { count, sinceFirstMs, remainingMs }: Tries,
): number | undefined {
  if (!error.transient || count >= MAX_TRIES) return undefined;
  const backoff = FIRST_PAUSE_MS * 2 ** (count - 1);
  const pause = error.retryAfter ?? Math.round(backoff * (0.5 + Math.random()));
  if (count > 1 && sinceFirstMs + pause > MAX_RETRYING_MS) return undefined;
  return pause > MAX_PAUSE_MS || pause >= remainingMs ? undefined : pause;
}
