/** Work on very many files at once: how much memory it takes at most. */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CountingService } from './counting-service.ts';
import { makeLedger } from './ledgers.ts';
import type { Place } from './place.ts';
import { noProc, usageOf } from './usage.ts';
import type { Found, WeighedRow } from './weigh.ts';

export function scaleMemoryRows(place: Place, quick: boolean): WeighedRow[] {
  const [few, many] = quick ? [2_000, 4_000] : [100_000, 200_000];
  const rows = quick ? 20_000 : 1_000_000;
  const sync = { unit: 'MB', must: 160 };
  const shown = (count: number): string => count.toLocaleString('en');
  return [
    {
      ...sync,
      key: 'sync-100k',
      what: `\`sync\` of ${shown(few)} files that were just delivered, as rows`,
      weigh: () => syncNew(place, few),
    },
    {
      ...sync,
      key: 'sync-200k',
      what: `\`sync --json\` of ${shown(many)} files that were just delivered`,
      weigh: () => syncNew(place, many, '--json'),
    },
    {
      key: 'order-1m',
      what: `\`order --from\` of ${shown(rows)} rows, dry run`,
      unit: 'MB',
      must: 400,
      weigh: () => dryRun(place, rows),
    },
  ];
}

async function syncNew(place: Place, files: number, ...form: string[]): Promise<Found> {
  if (noProc !== undefined) return { skipped: noProc };
  const service = await CountingService.start();
  service.isDelivered = () => true;
  const env = place.env(place.fresh('sync'), service.baseUrl);
  const home = env.BENCH_FOLDER ?? '';
  await makeLedger(env, files, true);
  const args = [place.bin, 'sync', '--download', 'd', '--jobs', '16', ...form];
  const { megabytes } = await usageOf(args, env, { output: join(home, 'printed') });
  const calls = service.calls.length;
  await service.close();
  await rm(home, { recursive: true });
  if (calls !== 2 * files) throw new Error(`${calls} calls for ${files} files`);
  return { value: megabytes };
}

async function dryRun(place: Place, rows: number): Promise<Found> {
  if (noProc !== undefined) return { skipped: noProc };
  const env = place.env(place.fresh('order'));
  const manifest = join(env.BENCH_FOLDER ?? '', 'rows.csv');
  const output = join(env.BENCH_FOLDER ?? '', 'printed');
  await pipeline(Readable.from(csvLines(rows)), createWriteStream(manifest));
  const { megabytes } = await usageOf([place.bin, 'order', '--from', manifest, '--dry-run'], env, {
    output,
  });
  return { value: megabytes };
}

function* csvLines(rows: number): Generator<string> {
  yield 'url,sku,notes\n';
  for (let at = 0; at < rows; at += 1) yield `https://media.example.com/talks/2026/${at}.mp3,TRANS14,\n`;
}
