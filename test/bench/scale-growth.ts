/** What a file costs among 40,000, over what it costs among 10,000: processor time, so that a busy machine may measure it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CountingService } from './counting-service.ts';
import { makeLedger } from './ledgers.ts';
import type { Env, Place } from './place.ts';
import { noProc, usageOf } from './usage.ts';
import type { Found, WeighedRow } from './weigh.ts';

const TABLE = 'growth of the processor time a file, 40,000 against 10,000';
const REPEATS = 2;

/** The processor time of a run with this number of files, in milliseconds. */
type Timed = (files: number) => Promise<number>;

export function scaleGrowthRows(place: Place, quick: boolean): WeighedRow[] {
  const common = { table: TABLE, unit: 'times', must: 1.15 };
  const sizes = quick ? ([500, 2_000] as const) : ([10_000, 40_000] as const);
  const perOrder = [1, 50, sizes[1]] as const;
  return [
    ...perOrder.map((n) => ({
      ...common,
      key: `skip-ordered-${n === sizes[1] ? 'all' : n}`,
      what: `\`order --skip-ordered --per-order ${n === sizes[1] ? '40000' : n}\`, all of it on order`,
      weigh: () => growth(sizes, skipOrdered(place, n)),
    })),
    {
      ...common,
      key: 'order-growth',
      what: '`order --from`',
      weigh: () => growth(sizes, orderNew(place)),
    },
    {
      ...common,
      key: 'wait-growth',
      what: '`wait --download`',
      weigh: () => growth(sizes, waitAndDownload(place)),
    },
  ];
}

/** The least of several runs: what else the machine does only adds to it. */
async function growth([few, many]: readonly [number, number], timed: Timed): Promise<Found> {
  if (noProc !== undefined) return { skipped: noProc };
  let [least, most] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let run = 0; run < REPEATS; run += 1) {
    least = Math.min(least, (await timed(few)) / few);
    most = Math.min(most, (await timed(many)) / many);
  }
  return { value: Math.round((most / least) * 100) / 100, note: `${most.toFixed(2)} ms a file` };
}

async function withService<T>(
  place: Place,
  work: (env: Env, service: CountingService) => Promise<T>,
): Promise<T> {
  const service = await CountingService.start();
  try {
    return await work(place.env(place.fresh('growth'), service.baseUrl), service);
  } finally {
    await service.close();
  }
}

/** Ordered once, as users do it, and then left out. */
function skipOrdered(place: Place, perOrder: number): Timed {
  const ledgers = new Map<number, Env>();
  return (files) =>
    withService(place, async (fresh, service) => {
      const env = { ...(ledgers.get(files) ?? fresh), STENO_BASE_URL: service.baseUrl };
      if (!ledgers.has(files)) await order(place, env, files, '--per-order', '500');
      ledgers.set(files, env);
      const before = service.calls.length;
      const cost = await order(place, env, files, '--skip-ordered', '--per-order', String(perOrder));
      if (service.calls.length > before) throw new Error('what is on order was ordered again');
      return cost;
    });
}

const orderNew =
  (place: Place): Timed =>
  (files) =>
    withService(place, (env) => order(place, env, files));

async function order(place: Place, env: Env, files: number, ...more: string[]): Promise<number> {
  const manifest = join(env.BENCH_FOLDER ?? '', 'urls');
  const urls = Array.from({ length: files }, (_, at) => `https://example.com/growth/${at}.mp3`);
  writeFileSync(manifest, urls.join('\n'));
  const args = [place.bin, 'order', '--from', manifest, '--sku', 'TRANS14', '--quiet', ...more];
  return (await usageOf(args, env)).milliseconds;
}

const waitAndDownload =
  (place: Place): Timed =>
  (files) =>
    withService(place, async (env, service) => {
      service.isDelivered = () => true;
      await makeLedger(env, files, true);
      return (await usageOf([place.bin, 'wait', '--download', 'd', '--quiet'], env)).milliseconds;
    });
