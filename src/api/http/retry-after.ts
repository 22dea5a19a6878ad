/** A year: more could not be shown as a time. */
const MAX_MS = 365 * 86400e3;

/** Retry-After, a number of seconds or a date, as milliseconds from `now`. */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text.trim())) return Math.min(Math.ceil(Number(text) * 1000), MAX_MS);
  // Checked first, because Date.parse makes a date of almost anything.
  const date = /[a-z]{3}|\d{4}-\d\d-\d\d/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), MAX_MS);
}
