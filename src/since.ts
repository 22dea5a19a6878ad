import { parseDuration } from './duration.ts';
import { usage } from './errors.ts';

/** A point in time: `2026-11-01`, an ISO time, or a duration before now such as `3d`; as ISO 8601. */
export function parseSince(text: string, now: number): string {
  const time = /^\d{4}-\d\d-\d\d([T ].*)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  try {
    return new Date(now - parseDuration(text)).toISOString();
  } catch {
    throw usage(`'${text}' is not a time`, 'write it like 2026-11-01, 2026-11-01T09:30:00Z or 3d');
  }
}
