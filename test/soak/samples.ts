/** Memory and handles of a process over time, and whether they grow. Linux tells, others do not. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface Sample {
  readonly megabytes: number;
  readonly handles: number;
}

/** What the garbage collector lets lie now and then. */
const MAX_MEMORY_GROWTH = 1.15;
const SPARE_MEGABYTES = 8;
/** Connections that are kept open for the next call. */
const SPARE_HANDLES = 4;

export const canSample = existsSync('/proc/self/fd');

export function sample(pid: number): Sample | undefined {
  try {
    const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    const handles = readdirSync(`/proc/${pid}/fd`).length;
    return kilobytes === undefined ? undefined : { megabytes: (Number(kilobytes) * 1024) / 1e6, handles };
  } catch {
    return undefined;
  }
}

export interface Trend {
  readonly text: string;
  readonly complaints: readonly string[];
}

/** Compares the second quarter of the time, when all is warm, with the last one. */
export function trendOf(name: string, samples: readonly Sample[]): Trend {
  const quarter = Math.floor(samples.length / 4);
  if (quarter < 3) return { text: `${name}: too few samples`, complaints: [`${name}: too few samples`] };
  const early = figuresOf(samples.slice(quarter, 2 * quarter));
  const late = figuresOf(samples.slice(-quarter));
  const text =
    `${name}: ${early.megabytes} MB, then ${late.megabytes} MB; ` +
    `at most ${early.handles} handles, then ${late.handles}`;
  const complaints = [
    ...(late.megabytes > early.megabytes * MAX_MEMORY_GROWTH + SPARE_MEGABYTES
      ? [`memory grows: ${text}`]
      : []),
    ...(late.handles > early.handles + SPARE_HANDLES ? [`handles grow: ${text}`] : []),
  ];
  return { text, complaints };
}

/** The median of memory, which goes up and down; the most handles. */
function figuresOf(samples: readonly Sample[]): Sample {
  const sizes = samples.map(({ megabytes }) => megabytes).sort((one, other) => one - other);
  const handles = samples.reduce((most, each) => Math.max(most, each.handles), 0);
  return { megabytes: Math.round(sizes[Math.floor(sizes.length / 2)] ?? 0), handles };
}
