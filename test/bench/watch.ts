/** A listener that watches over very much: whether it still answers at once, and what it asks about. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Crowd, type CrowdTarget, makeCrowdedLedger, sharedCrowd } from './crowded.ts';
import type { Env, Place } from './place.ts';
import { noServer, theServer } from './shared.ts';
import type { Found, WeighedRow } from './weigh.ts';

const TABLE = 'a listener that watches over very much';
const EVENT_EVERY_MS = 20;

export function watchRows(place: Place, quick: boolean): WeighedRow[] {
  const many = quick ? 50_000 : 1_000_000;
  const million = many.toLocaleString('en');
  const seconds = quick ? 10 : 120;
  return [
    {
      ...{ key: 'listen-crowded', table: TABLE, unit: 'ms', must: 100 },
      what: `\`listen\` with ${million} pending actions and ${million} open files: the slowest answer, the first among them, while the target of the actions is down and while it works`,
      weigh: () => slowestAnswer(place, many, seconds, inFile),
    },
    {
      ...{ key: 'listen-crowded-shared', table: TABLE, unit: 'ms', must: 100 },
      what: `the same on a shared ledger (PostgreSQL)`,
      weigh: async () => (noServer ? { skipped: noServer } : slowestAnswer(place, many, seconds, inDatabase)),
    },
    {
      ...{ key: 'look-out-found', table: TABLE, unit: 'min', must: 30 },
      what: 'look-out at 10,000 open files, 1,500 of them due: until a lost event of one that is due is found',
      weigh: async () => (await lookOut(place)).found,
    },
    {
      ...{ key: 'look-out-calls', table: TABLE, unit: 'calls a minute', must: 60 },
      what: 'the same: calls of the service',
      weigh: async () => (await lookOut(place)).calls,
    },
  ];
}

interface Answers {
  readonly answered: number;
  readonly refused: number;
  readonly first: number;
  readonly worst: number;
}

/** Makes a ledger in which very much waits; gives the environment of who uses it. */
type MakeLedger = (place: Place, crowd: Crowd, target: CrowdTarget) => Promise<Env>;

const inFile: MakeLedger = async (place, crowd, target) => {
  const env = place.env(place.fresh('crowded'));
  await makeCrowdedLedger(env, crowd, target);
  return env;
};

const inDatabase: MakeLedger = async (place, crowd, target) => {
  const server = await theServer();
  const url = await server.newDatabase();
  const env = { ...place.env(place.fresh('crowded')), STENO_LEDGER: url };
  await promisify(execFile)(process.execPath, [place.bin, 'files'], { env });
  for (const sql of sharedCrowd(crowd, target)) await server.query(sql, new URL(url).pathname.slice(1));
  return env;
};

async function slowestAnswer(
  place: Place,
  many: number,
  seconds: number,
  makeLedger: MakeLedger,
): Promise<Found> {
  const bare = await bareAnswers(place, Math.min(10, seconds));
  const crowd: Crowd = { openFiles: many, due: many / 100, actions: many };
  const target = new Target();
  const url = await target.open();
  await target.close();
  const env = await makeLedger(place, crowd, { kind: 'forward', target: url });
  const args = [place.bin, 'listen', '--port', '0', '--forward-to', url];
  const down = await answersOf(place, args, env, seconds);
  await target.open();
  const live = await answersOf(place, args, env, seconds).finally(() => target.close());
  const told = ({ first, worst }: Answers): string => `${ms(worst)} ms, the first ${ms(first)} ms`;
  return {
    value: ms(Math.max(down.worst, live.worst)),
    note: `target down: ${told(down)}; target works: ${told(live)}, ${target.requests.toLocaleString('en')} forwards; a bare server at most ${ms(bare.worst)} ms`,
  };
}

async function answersOf(place: Place, args: readonly string[], env: Env, seconds: number): Promise<Answers> {
  const listen = await place.start(args, env);
  try {
    return await steadily(place, listen.url, seconds);
  } finally {
    await listen.stop();
  }
}

/** What the actions are forwarded to; it comes back at the same port. */
class Target {
  requests = 0;
  #port = 0;
  #server: Server | undefined;

  async open(): Promise<string> {
    const server = createServer((request, response) => {
      this.requests += 1;
      request.resume().on('end', () => response.end());
    });
    this.#server = server;
    await new Promise<void>((done) => server.listen(this.#port, '127.0.0.1', done));
    this.#port = (server.address() as AddressInfo).port;
    return `http://127.0.0.1:${this.#port}/`;
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((done) => this.#server?.close(done));
  }
}

async function bareAnswers(place: Place, seconds: number): Promise<Answers> {
  const bare = await place.startOwn('bare');
  try {
    return await steadily(place, bare.url, seconds);
  } finally {
    await bare.stop();
  }
}

const ms = (exact: number): number => Math.round(exact * 10) / 10;

/** From a process of its own: what this one does must not look like a slow answer. */
async function steadily(place: Place, url: string, seconds: number): Promise<Answers> {
  const args = [place.script('steady'), url, String(EVENT_EVERY_MS), String(seconds)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const answers = JSON.parse(stdout) as Answers;
  if (answers.refused > 0) throw new Error(`${answers.refused} of ${answers.answered} events were refused`);
  return answers;
}

const OPEN_FILES = 10_000;
const DUE = 1_500;
/** In place of five seconds: half an hour takes 108 s. */
const TICK_MS = 300;
const MINUTE_MS = 12 * TICK_MS;
/** When most of what is due was looked at for the first time. */
const FIRST_ROUND_CALLS = 1_000;

interface LookOut {
  readonly found: Found;
  readonly calls: Found;
}

let measured: Promise<LookOut> | undefined;

/** Both figures are of one run. */
function lookOut(place: Place): Promise<LookOut> {
  measured ??= measureLookOut(place);
  return measured;
}

async function measureLookOut(place: Place): Promise<LookOut> {
  const service = new SlowlyDelivering();
  const env = {
    ...place.env(place.fresh('look-out'), await service.open()),
    STENO_TEST_TICK_MS: String(TICK_MS),
  };
  await makeCrowdedLedger(env, { openFiles: OPEN_FILES, due: DUE, actions: 0 }, { kind: '', target: '' });
  const listen = await place.start([place.bin, 'listen', '--port', '0', '--json'], env);
  try {
    const deliveredAt = await service.deliveredAt;
    const foundAt = await timeOfFound(env, service.delivered, deliveredAt + 60 * MINUTE_MS);
    const minutes = ms((foundAt - deliveredAt) / MINUTE_MS);
    return { found: { value: minutes }, calls: service.callsPerMinute() };
  } finally {
    await listen.stop();
    service.close();
  }
}

/** Every file is under way, until one that is due was just asked about: it is delivered in that moment, with no event. */
class SlowlyDelivering {
  readonly deliveredAt: Promise<number>;
  delivered = '';
  #setDelivered: (at: number) => void = () => {};
  readonly #times: number[] = [];
  readonly #server: Server;

  constructor() {
    this.deliveredAt = new Promise((done) => {
      this.#setDelivered = done;
    });
    this.#server = createServer((request, response) => {
      const id = /\/audiofile\/(\d+)/.exec(request.url ?? '')?.[1] ?? '';
      const statename = id !== '' && id === this.delivered ? 'Delivered' : 'Transcribing';
      this.#note(id);
      request.resume().on('end', () => {
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify({ audiofile: { id: Number(id), statename, title: '' }, balance: '1.00' }),
        );
      });
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/API4`;
  }

  #note(id: string): void {
    this.#times.push(performance.now());
    const isDue = Number(id) > OPEN_FILES - DUE;
    if (this.delivered !== '' || !isDue || this.#times.length < FIRST_ROUND_CALLS) return;
    this.delivered = id;
    this.#setDelivered(performance.now());
  }

  /** Over the whole run; the most in any minute depends on how evenly the machine runs. */
  callsPerMinute(): Found {
    const times = this.#times;
    const minutes = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / MINUTE_MS;
    const inMinuteFrom = (from: number): number =>
      times.filter((time) => time >= from && time < from + MINUTE_MS).length;
    const most = times.reduce((so, from) => Math.max(so, inMinuteFrom(from)), 0);
    // What may be asked at once at the start is not of the pace.
    const value = ms((times.length - 60) / minutes);
    return { value, note: `at most ${most} in any minute` };
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

async function timeOfFound(env: Env, id: string, deadline: number): Promise<number> {
  const output = join(env.BENCH_FOLDER ?? '', 'stdout');
  while (performance.now() < deadline) {
    if (readFileSync(output, 'utf8').includes(`"audiofile":"${id}"`)) return performance.now();
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`file ${id} was not found in an hour`);
}
