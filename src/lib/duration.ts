import { POLL_PAUSE_MS } from './defaults.ts';
import { usage } from './errors.ts';

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

/** Reads `500ms`, `30s`, `5m`, `2h`, `3d`, `1w` or a bare number of seconds, as milliseconds. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w|)$/.exec(text.trim());
  const milliseconds = match
    ? Math.round(Number(match[1]) * (units[match[2] ?? ''] ?? Number.NaN))
    : Number.NaN;
  if (!(milliseconds <= MAX_DURATION_MS)) {
    throw usage(
      `'${text}' is not a duration`,
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
