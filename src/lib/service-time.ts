/**
 * Times that the service says. The API document does not show their format: read is what can mean one time only, that
 * is ISO 8601 and a date with the name of its month. A bare number, or 03/04/2026, is no time.
 */
const isoShape = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s*(Z|UTC|GMT|[+-]\d\d:?\d\d)?)?$/i;
const namedShape =
  /^(?:[a-z]{3,9},?\s+)?(\d{1,2})\s+([a-z]{3})[a-z]*\.?\s+(\d{4})(?:\s+(\d\d:\d\d(?::\d\d)?)\s*(Z|UTC|GMT|[+-]\d{4})?)?$/i;
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** In ISO 8601; without a zone it is taken for UTC. Undefined if it can't be read. */
export function parseServiceTime(text: string): string | undefined {
  // The patterns are quadratic on a megabyte of blanks.
  if (text.length > 100) return undefined;
  const [, isoDay, isoClock, isoZone] = isoShape.exec(text.trim()) ?? [];
  if (isoDay !== undefined) return timeOf(isoDay, isoClock, isoZone);
  const [, day = '', name = '', year, clock, zone] = namedShape.exec(text.trim()) ?? [];
  const month = months.indexOf(name.toLowerCase()) + 1;
  if (year === undefined || month === 0) return undefined;
  return timeOf(`${year}-${String(month).padStart(2, '0')}-${day.padStart(2, '0')}`, clock, zone);
}

function timeOf(day: string, clock = '00:00', zone = 'Z'): string | undefined {
  const midnight = Date.parse(`${day}T00:00Z`);
  // Date.parse would read the 30th of February as a day in March.
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return undefined;
  const offset = /^(?:Z|UTC|GMT)$/i.test(zone) ? 'Z' : zone.replace(/^(...):?/, '$1:');
  const time = Date.parse(`${day}T${clock}${offset}`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** The month as people say it: `August`, or `August 2025` in another year. */
export function monthName(iso: string, now: number): string {
  const date = new Date(iso);
  const name = date.toLocaleString('en', { month: 'long', timeZone: 'UTC' });
  const year = date.getUTCFullYear();
  return year === new Date(now).getUTCFullYear() ? name : `${name} ${year}`;
}
