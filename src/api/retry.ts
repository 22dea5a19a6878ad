import { CallError } from './failures.ts';

const TRIES = 4;
const FIRST_PAUSE = 250;
/** Longer than this nobody waits for one answer. */
const LONGEST_PAUSE = 60_000;
/** A number that can be shown, whatever the service asks. */
const LONGEST_ASKED = 365 * 86400e3;

/** How long to wait before a read is sent again, or undefined if it is not. */
export function pauseBefore(error: unknown, attempt: number, remaining: number): number | undefined {
  if (!(error instanceof CallError) || !error.passing || attempt >= TRIES) return undefined;
  const backoff = FIRST_PAUSE * 2 ** (attempt - 1);
  const pause = error.retryAfter ?? Math.round(backoff * (0.5 + Math.random()));
  return pause > LONGEST_PAUSE || pause >= remaining ? undefined : pause;
}

/** Retry-After as milliseconds from now: a number of seconds or a date. */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text.trim())) return Math.min(Math.ceil(Number(text) * 1000), LONGEST_ASKED);
  // Dates only: Date.parse makes one of almost anything.
  const date = /[a-z]{3}|\d{4}-\d\d-\d\d/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), LONGEST_ASKED);
}
