import { setTimeout as wait } from 'node:timers/promises';
import { POLL_PAUSE_MS } from './defaults.ts';
import { StenoError, usage } from './errors.ts';
import { relativeTime } from './relative-time.ts';

export { relativeTime };

let source: (() => number) | undefined;

/** Whole milliseconds: 1.1 * 60 is a little more than 66, which would be billed as a second more. */
export const secondsOfMinutes = (minutes: number): number =>
  Math.max(1, Math.round(minutes * 60_000)) / 1_000;

/** The time of day in milliseconds, for timestamps: with --sandbox that of the sandbox, whose clock can be moved. */
export const nowMs = (): number => (source ? source() : Date.now());

/** From now on this tells the time of day; nothing: the machine's clock does. */
export function setClock(clock: (() => number) | undefined): void {
  source = clock;
}

/** Whether the time of day is another than the machine's. */
export const hasOwnClock = (): boolean => source !== undefined;

/** Milliseconds on a clock that can't be set back: for time limits, never for timestamps. */
export function monotonicMs(): number {
  // Not performance.now: its first use takes up to 6 ms on Node 20, which is a tenth of a short command.
  // Not destructured: that makes an iterator at each of thousands of calls.
  const now = process.hrtime();
  return now[0] * 1e3 + now[1] / 1e6;
}

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1e3,
  m: 60e3,
  h: 3600e3,
  d: 86400e3,
  w: 604800e3,
  '': 1e3,
};

/** Ten years: added to any date, it still gives a date. */
const MAX_DURATION_MS = 3650 * 86400e3;

/** Reads `500ms`, `30s`, `5m`, `2h`, `3d`, `1w` or a bare number of seconds, as milliseconds. `flag`: where it stands. */
export function parseDuration(text: string, flag?: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w|)$/.exec(text.trim());
  const milliseconds = match
    ? Math.round(Number(match[1]) * (units[match[2] ?? ''] ?? Number.NaN))
    : Number.NaN;
  if (!(milliseconds <= MAX_DURATION_MS)) {
    throw usage(
      `${flag ? `${flag}: ` : ''}'${text}' is not a duration`,
      'write it as 500ms, 30s, 5m, 2h, 3d or 1w; a bare number is seconds',
    );
  }
  return milliseconds;
}

/** Writes milliseconds in the largest unit that gives a whole number. */
export function formatDuration(milliseconds: number): string {
  for (const unit of ['d', 'h', 'm', 's']) {
    const size = units[unit] ?? 1;
    if (milliseconds >= size && milliseconds % size === 0) return `${milliseconds / size}${unit}`;
  }
  return `${milliseconds}ms`;
}

/** For people: `850 ms`, `12 s`, `2 min 13 s`, `3 h 5 min`, `2 d 4 h`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = Math.floor(milliseconds / 1000);
  const steps: ReadonlyArray<readonly [number, string, number, string]> = [
    [86_400, 'd', 3_600, 'h'],
    [3_600, 'h', 60, 'min'],
    [60, 'min', 1, 's'],
  ];
  const step = steps.find(([size]) => seconds >= size);
  if (!step) return `${seconds} s`;
  const [size, unit, part, partUnit] = step;
  const rest = Math.floor((seconds % size) / part);
  return `${Math.floor(seconds / size)} ${unit}${rest ? ` ${rest} ${partUnit}` : ''}`;
}

/** The default of --interval, for the help. */
export const pollNote = `${formatDuration(POLL_PAUSE_MS.first)}, growing to ${formatDuration(POLL_PAUSE_MS.max)}`;

const shape = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?))?$/i;

const DAY_MS = 86_400_000;
/** A day before this one, by its name. */
const daysAgo = new Map([
  ['today', 0],
  ['yesterday', 1],
]);

/** `2026-11-01` for `today` and `yesterday`, in UTC as all dates are. */
function asDate(text: string, now: number): string {
  const trimmed = text.trim();
  const days = daysAgo.get(trimmed.toLowerCase());
  return days === undefined ? trimmed : new Date(now - days * DAY_MS).toISOString().slice(0, 10);
}

/** Reads `2026-11-01` (midnight, UTC), `yesterday`, an ISO time, or a duration before now such as `3d`, as ISO 8601. */
export function parseSince(text: string, now: number, flag = '--since'): string {
  const [, day, time] = shape.exec(asDate(text, now)) ?? [];
  const at = day === undefined || !isDay(day) ? Number.NaN : Date.parse(time ? `${day}T${time}` : day);
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  try {
    return new Date(now - parseDuration(text)).toISOString();
  } catch {
    throw usage(
      `${flag}: '${text}' is not a time`,
      'write it like 2026-11-01, 2026-11-01T09:30:00Z, yesterday or 3d',
    );
  }
}

const LAST_MS_OF_DAY = DAY_MS - 1;

/** The same for an end: a date is the end of that day. */
export function parseUntil(text: string, now: number): string {
  const at = parseSince(text, now, '--until');
  const date = asDate(text, now);
  const isDate = shape.exec(date)?.[2] === undefined && isDay(date);
  return isDate ? new Date(Date.parse(at) + LAST_MS_OF_DAY).toISOString() : at;
}

/** Date.parse would read the 30th of February as a day in March. */
const isDay = (day: string): boolean => {
  const time = Date.parse(day);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
};

/** By the clock on the user's wall. */
export function localTime(iso: string): { readonly day: string; readonly time: string } {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return { day: '', time: iso };
  const two = (part: number): string => String(part).padStart(2, '0');
  return {
    day: `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
    time: [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':'),
  };
}

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
  if (!isDay(day)) return undefined;
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

/** The longest delay that a timer of Node takes. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Waits; throws `interrupted` as soon as the user interrupts. */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(Math.min(milliseconds, MAX_DELAY_MS), undefined, { signal });
  } catch {
    throw new StenoError('interrupted', 'interrupted');
  }
}

/** `3h ago` for a time that is past; the clock of another machine may be ahead. */
export const timeAgo = (text: string): string => relativeTime(text, Math.max(nowMs(), Date.parse(text) || 0));

const twoDigits = (value: number): string => String(Math.floor(value)).padStart(2, '0');

/** A position in audio, given in milliseconds: `00:12:03`, or with a point `00:12:03.250`. */
export function audioClock(ms: number, point = ''): string {
  const clock = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map(twoDigits).join(':');
  return point ? `${clock}${point}${String(ms % 1000).padStart(3, '0')}` : clock;
}
