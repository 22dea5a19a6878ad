import { parseDuration } from './duration.ts';
import { usage } from './errors.ts';

const shape = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?))?$/i;

/** Reads `2026-11-01` (midnight, UTC), an ISO time, or a duration before now such as `3d`, as ISO 8601. */
export function parseSince(text: string, now: number): string {
  const [, day, time] = shape.exec(text.trim()) ?? [];
  const at = day === undefined || !isDay(day) ? Number.NaN : Date.parse(time ? `${day}T${time}` : day);
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  try {
    return new Date(now - parseDuration(text)).toISOString();
  } catch {
    throw usage(`'${text}' is not a time`, 'write it like 2026-11-01, 2026-11-01T09:30:00Z or 3d');
  }
}

const LAST_MS_OF_DAY = 86_399_999;

/** The same for an end: a date is the end of that day. */
export function parseUntil(text: string, now: number): string {
  const at = parseSince(text, now);
  const isDate = shape.exec(text.trim())?.[2] === undefined && isDay(text.trim());
  return isDate ? new Date(Date.parse(at) + LAST_MS_OF_DAY).toISOString() : at;
}

/** Date.parse would read the 30th of February as a day in March. */
const isDay = (day: string): boolean => {
  const time = Date.parse(day);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
};
