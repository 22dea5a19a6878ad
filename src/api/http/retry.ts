import { CallError } from './failures.ts';

const MAX_TRIES = 4;
const FIRST_PAUSE_MS = 250;
/** When the service asks to wait longer than this, the error is shown instead. */
const MAX_PAUSE_MS = 60_000;

/** How long to wait before a read is sent again; undefined where it is not to be repeated. */
export function pauseBeforeRetry(error: unknown, attempt: number, remainingMs: number): number | undefined {
  if (!(error instanceof CallError) || !error.transient || attempt >= MAX_TRIES) return undefined;
  const backoff = FIRST_PAUSE_MS * 2 ** (attempt - 1);
  const pause = error.retryAfter ?? Math.round(backoff * (0.5 + Math.random()));
  return pause > MAX_PAUSE_MS || pause >= remainingMs ? undefined : pause;
}
