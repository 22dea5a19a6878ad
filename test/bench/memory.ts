/** How much memory it takes at most. Linux tells, others do not. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { killListen, sendAndRest, startListen, whyNoListen } from './listen.ts';
import type { Place } from './place.ts';
import { noProc, peak, usageOf } from './usage.ts';
import type { Found, WeighedRow } from './weigh.ts';

export function memoryRows(place: Place, quick: boolean): WeighedRow[] {
  const events = quick ? 40_000 : 200_000;
  return [
    {
      key: 'memory-large',
      what: 'one transcript of 1 GB',
      must: 130,
      unit: 'MB',
      weigh: () => download(place, 1e9, ['100001']),
    },
    {
      key: 'memory-many',
      what: '5,000 transcripts of 20 kB in two formats, 16 at once',
      must: 130,
      unit: 'MB',
      weigh: () => download(place, 20_000, manyIds(), '--format', 'txt,srt', '--jobs', '16'),
    },
    {
      key: 'memory-listen',
      what: `\`listen\` after ${events.toLocaleString('en')} events, over a fifth of them`,
      must: 1.15,
      unit: 'times',
      weigh: () => receive(place, events),
    },
  ];
}

const manyIds = (): string[] => Array.from({ length: 5000 }, (_, at) => String(100_000 + at));

async function download(
  place: Place,
  size: number,
  ids: readonly string[],
  ...more: string[]
): Promise<Found> {
  if (noProc !== undefined) return { skipped: noProc };
  const env = place.env(place.fresh('memory'), place.baseUrl(size));
  const list = join(env.BENCH_FOLDER ?? '', 'ids');
  const into = join(env.BENCH_FOLDER ?? '', 'out');
  writeFileSync(list, ids.join('\n'));
  const args = [place.bin, 'transcript', '--from', list, '-o', `${into}/`, ...more];
  const { megabytes: value } = await usageOf(args, env);
  rmSync(into, { recursive: true });
  return { value };
}

/** A fifth of the events warms it up; the peak after the others tells whether anything piles up. */
async function receive(place: Place, events: number): Promise<Found> {
  const skipped = noProc ?? whyNoListen(place);
  if (skipped !== undefined) return { skipped };
  const listen = await startListen(place);
  sendAndRest(place, listen, events / 5);
  const early = peak(listen.pid);
  sendAndRest(place, listen, (events * 4) / 5);
  const late = peak(listen.pid);
  await killListen(listen, events);
  return { value: Math.round((late / early) * 100) / 100, note: `${Math.round(late)} MB at its peak` };
}
