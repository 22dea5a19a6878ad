/** A year: more could not be shown as a time. */
const MAX_MS = 365 * 86400e3;

/** Retry-After, a number of seconds or a date, as milliseconds from `now`; nothing where that asks for no pause. */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text.trim())) return pauseOf(Math.ceil(Number(text) * 1000));
  // Checked first, because Date.parse makes a date of almost anything.
  const date = /[a-z]{3}|\d{4}-\d\d-\d\d/i.test(text) ? Date.parse(text) : Number.NaN;
  return pauseOf(date - now);
}

/** One that is over already leaves the pause to us: this machine's clock may be ahead. */
const pauseOf = (ms: number): number | undefined => (ms > 0 ? Math.min(ms, MAX_MS) : undefined);
