/** A number that can be shown, whatever the service asks. */
const LONGEST_ASKED = 365 * 86400e3;

/** Retry-After as milliseconds from now: a number of seconds or a date. */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text.trim())) return Math.min(Math.ceil(Number(text) * 1000), LONGEST_ASKED);
  // Dates only: Date.parse makes one of almost anything.
  const date = /[a-z]{3}|\d{4}-\d\d-\d\d/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), LONGEST_ASKED);
}
