import { CallError } from './failures.ts';

const TRIES = 4;
const FIRST_PAUSE = 250;
/** Longer than this nobody waits for one answer. */
const LONGEST_PAUSE = 60_000;

/** How long to wait before a read is sent again, or undefined if it is not. */
export function pauseBefore(error: unknown, attempt: number, remaining: number): number | undefined {
  if (!(error instanceof CallError) || !error.transient || attempt >= TRIES) return undefined;
  const backoff = FIRST_PAUSE * 2 ** (attempt - 1);
  const pause = error.retryAfter ?? Math.round(backoff * (0.5 + Math.random()));
  return pause > LONGEST_PAUSE || pause >= remaining ? undefined : pause;
}
