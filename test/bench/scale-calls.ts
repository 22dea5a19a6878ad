/** How often the service is asked, and over how many connections: counted there. */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { CountingService, type Handler } from './counting-service.ts';
import { makeLedger } from './ledgers.ts';
import type { Env, Place } from './place.ts';
import { type Usage, usageOf } from './usage.ts';
import type { Found, WeighedRow } from './weigh.ts';

const TABLE = 'calls of the service';
const FIRST_ID = 100_000;
const MINUTE_MS = 60_000;
const MAX_OUTAGE_CALLS = 60;
const MAX_OUTAGE_SECONDS = 30;

export function scaleCallRows(place: Place, quick: boolean): WeighedRow[] {
  const common = { table: TABLE, unit: 'calls' };
  const beside = quick ? { files: 60, everyMs: 200 } : { files: 1_000, everyMs: 1_000 };
  const [few, many] = quick ? [100, 300] : [1_000, 10_000];
  const shown = (count: number): string => count.toLocaleString('en');
  let alone: Promise<Alone> | undefined;
  const aloneOnce = (): Promise<Alone> => {
    alone ??= waitAlone(place, few, true);
    return alone;
  };
  return [
    {
      ...common,
      key: 'wait-beside-listen',
      what: `\`wait\` for ${shown(beside.files)} files beside \`listen\`, one delivery a second: a delivered file`,
      must: 5,
      weigh: () => waitBesideListen(place, beside),
    },
    {
      ...common,
      key: 'wait-1000-calls',
      what: `\`wait\` for ${shown(few)} open files: in a minute after the first, at most`,
      must: 600,
      weigh: async () => ({ value: (await aloneOnce()).callsInMinute }),
    },
    {
      ...common,
      key: 'wait-1000-delivery',
      what: `\`wait\` for ${shown(few)} open files: until a delivery is noticed`,
      unit: 's',
      must: 120,
      weigh: async () => ({ value: (await aloneOnce()).noticedAfterSeconds }),
    },
    {
      ...common,
      key: 'wait-10000-calls',
      what: `\`wait\` for ${shown(many)} open files: in a minute after the first, at most`,
      must: 600,
      weigh: async () => ({ value: (await waitAlone(place, many, false)).callsInMinute }),
    },
    ...[500, many].flatMap((files) => outageRows(place, files)),
    {
      ...common,
      key: 'connections',
      what: '`sync` with `--jobs` 1 to 64: connections a job, at most',
      unit: 'times',
      must: 1,
      weigh: () => connections(place),
    },
  ];
}

async function withOpenFiles<T>(
  place: Place,
  files: number,
  work: (env: Env, service: CountingService) => Promise<T>,
): Promise<T> {
  const service = await CountingService.start();
  const env = place.env(place.fresh('calls'), service.baseUrl);
  await makeLedger(env, files, true);
  try {
    return await work(env, service);
  } finally {
    await service.close();
  }
}

const waitBesideListen = (
  place: Place,
  { files, everyMs }: { files: number; everyMs: number },
): Promise<Found> =>
  withOpenFiles(place, files, async (env, service) => {
    const delivered = new Set<string>();
    service.isDelivered = (id) => delivered.has(id);
    const listen = await place.start([place.bin, 'listen', '--port', '0'], env);
    const waiting = usageOf([place.bin, 'wait', '--quiet'], env);
    const begunAt = performance.now();
    for (let at = 0; at < files; at += 1) {
      await sleep(Math.max(0, begunAt + (at + 1) * everyMs - performance.now()));
      const id = String(FIRST_ID + at);
      delivered.add(id);
      const body = new URLSearchParams({
        ...{
          webhook_version: '4',
          event: 'TRANSCRIPT_COMPLETE',
          audiofile: id,
          order: `o${Math.floor(at / 5)}`,
        },
      });
      const { status } = await fetch(listen.url, { method: 'POST', body });
      if (status !== 200) throw new Error(`listen answered ${status}`);
    }
    await waiting;
    await listen.stop();
    return { value: Math.round((service.calls.length / files) * 100) / 100 };
  });

interface Alone {
  /** The most in any minute after the first. */
  readonly callsInMinute: number;
  readonly noticedAfterSeconds: number;
}

/** With `delivers`, a file is delivered just after it was asked about, which is the worst moment. */
const waitAlone = (place: Place, files: number, delivers: boolean): Promise<Alone> =>
  withOpenFiles(place, files, async (env, service) => {
    const child = spawn(process.execPath, [place.bin, 'wait', '--quiet'], { env, stdio: 'ignore' });
    const ended = new Promise((done) => child.on('close', done));
    try {
      while (service.calls.length === 0) await sleep(100);
      const { calls } = service;
      const from = (calls[0]?.at ?? 0) + MINUTE_MS;
      await sleep(Math.max(0, from + MINUTE_MS / 6 - performance.now()));
      const asked = calls.at(-1);
      const deliveredAt = performance.now();
      service.isDelivered = (id) => delivers && id === asked?.file;
      const isNoticed = (): boolean => calls.some(({ at, file }) => at > deliveredAt && file === asked?.file);
      while (performance.now() < from + 2 * MINUTE_MS || (delivers && !isNoticed())) {
        if (performance.now() > deliveredAt + 10 * MINUTE_MS) throw new Error('no delivery was noticed');
        await sleep(100);
      }
      const noticed = calls.find(({ at, file }) => at > deliveredAt && file === asked?.file);
      return {
        callsInMinute: mostInMinute(calls.map(({ at }) => at).filter((at) => at >= from)),
        noticedAfterSeconds: noticed ? Math.round((noticed.at - deliveredAt) / 1000) : 0,
      };
    } finally {
      child.kill();
      await ended;
    }
  });

function mostInMinute(times: readonly number[]): number {
  let [most, first] = [0, 0];
  for (const [at, time] of times.entries()) {
    while (time - (times[first] ?? time) >= MINUTE_MS) first += 1;
    most = Math.max(most, at - first + 1);
  }
  return most;
}

const outages: ReadonlyArray<
  readonly [name: string, what: string, exit: number, handler: Handler | undefined]
> = [
  ['down', 'which is down', 7, undefined],
  ['503', 'which answers 503', 1, (response) => void response.writeHead(503).end('{"message":"closed"}')],
  [
    '429',
    'which answers 429 with `Retry-After: 2`',
    1,
    (response) => void response.writeHead(429, { 'retry-after': '2' }).end(),
  ],
];

const outageRows = (place: Place, files: number): WeighedRow[] =>
  outages.map(([name, what, exit, handler]) => ({
    key: `outage-${files}-${name}`,
    what: `\`sync\` of ${files.toLocaleString('en')} open files from a service ${what}`,
    table: TABLE,
    unit: 's',
    must: MAX_OUTAGE_SECONDS,
    weigh: () => outage(place, files, exit, handler),
  }));

/** One line tells it, after few calls; how long it takes is the figure. */
const outage = (place: Place, files: number, exit: number, handler: Handler | undefined): Promise<Found> =>
  withOpenFiles(place, files, async (env, service) => {
    service.handler = handler;
    if (!handler) await service.close();
    const begunAt = performance.now();
    const { stderr }: Usage = await usageOf([place.bin, 'sync', '--download', 'd'], env, { exit });
    const value = Math.round((performance.now() - begunAt) / 1000);
    const lines = stderr.split('\n').filter((line) => line.startsWith('steno: '));
    const calls = service.calls.length;
    if (lines.length !== 1 || calls > MAX_OUTAGE_CALLS)
      throw new Error(`${lines.length} lines of errors, ${calls} calls\n${stderr.slice(0, 1000)}`);
    return { value, note: `${calls} calls, one line` };
  });

const connections = (place: Place): Promise<Found> =>
  withOpenFiles(place, 300, async (env, service) => {
    let value = 0;
    for (const jobs of [1, 2, 4, 8, 16, 32, 64]) {
      service.maxConnections = 0;
      const args = [place.bin, 'sync', '--download', 'd', '--jobs', String(jobs), '--quiet'];
      await usageOf(args, env);
      value = Math.max(value, service.maxConnections / jobs);
    }
    return { value };
  });
