/**
 * `listen`, `wait` and the sandbox side by side for half an hour, at a gentle rate, with some deliveries lost on the way:
 * memory and handles must stay flat, and afterwards every file must be there, noticed once.
 */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordProof } from '../proof/record.ts';
import { checkAll, type Outcome } from './checks.ts';
import { LossyWebhook } from './lossy-webhook.ts';
import { type Env, envIn, Running, runWell } from './program.ts';
import { canSample, type Sample, sample, trendOf } from './samples.ts';

const MINUTES = Number(process.env.STENO_SOAK_MINUTES) || 30;
const DURATION_MS = MINUTES * 60_000;
/** A slow file of the sandbox takes a minute at speed 1: here the whole time. Others take a twelfth of that. */
const SPEED = 1 / MINUTES;
const USUAL_FILE_MS = DURATION_MS / 12;
const ORDER_EVERY_MS = 5_000;
const FILES_PER_ORDER = 2;
const WAITED_FILES = 20;
const SAMPLE_EVERY_MS = 2_000;
/** The look-out asks about a file once in sixty of these. */
const TICK_MS = 1_000;
/** For files that are delivered at the end, and deliveries that were lost shortly before. */
const GRACE_MS = 240_000;

const [folder = ''] = process.argv.slice(2);

interface Parts {
  readonly sandbox: Running;
  readonly listen: Running;
  readonly wait: Running;
}

class Soak {
  readonly #webhook = new LossyWebhook();
  readonly #forwarded = new Map<string, number>();
  readonly #samples = new Map<string, Sample[]>();
  #env: Env = {};
  #ordered: string[] = [];
  #waited: string[] = [];

  async run(): Promise<string[]> {
    const target = await this.#openTarget();
    const parts = await this.#start(target);
    try {
      const begunAt = performance.now();
      const sampling = this.#sampleUntil(begunAt + DURATION_MS, Object.values(parts));
      await this.#orderUntil(begunAt + DURATION_MS - USUAL_FILE_MS - 10_000, Object.values(parts));
      await sampling;
      const complaints = await this.#settle(parts);
      return [...complaints, ...this.#trends(), ...checkAll(await this.#outcome())];
    } finally {
      target.closeAllConnections();
      target.close();
      this.#webhook.close();
    }
  }

  async #start(target: Server): Promise<Parts> {
    const sandboxArgs = ['sandbox', '--port', '0', '--speed', SPEED.toFixed(4), '--json'];
    const sandbox = new Running('sandbox', sandboxArgs, envIn(join(folder, 'service')));
    this.#env = envIn(join(folder, 'user'), {
      STENO_BASE_URL: await sandbox.says('out', /"base_url":\s*"([^"]+)"/),
      STENO_API_KEY: await sandbox.says('out', /"api_key":\s*"([^"]+)"/),
      STENO_TEST_TICK_MS: String(TICK_MS),
    });
    for (const name of ['heard', 'waited']) mkdirSync(join(folder, 'user', name));
    this.#webhook.port = await freePort();
    const listen = new Running(
      'listen',
      [
        ...['listen', '--port', String(this.#webhook.port), '--json', '--keep', '1h', '--download', 'heard'],
        ...['--register', '--public-url', await this.#webhook.open()],
        ...['--forward-to', `http://127.0.0.1:${(target.address() as AddressInfo).port}/`],
      ],
      this.#env,
    );
    await listen.says('err', /(listening on )/);
    this.#waited = [
      ...(await this.#order('slow', WAITED_FILES)),
      ...(await this.#order('usual', WAITED_FILES)),
    ];
    const wait = new Running('wait', ['wait', ...this.#waited, '--download', 'waited', '--json'], this.#env);
    return { sandbox, listen, wait };
  }

  /** Where listen forwards to. */
  async #openTarget(): Promise<Server> {
    const server = createServer((call, response) => {
      const chunks: Buffer[] = [];
      call.on('data', (chunk: Buffer) => chunks.push(chunk));
      call.on('end', () => {
        const fields = new URLSearchParams(Buffer.concat(chunks).toString());
        const file = fields.get('audiofile') ?? '';
        if (fields.get('event') === 'TRANSCRIPT_COMPLETE')
          this.#forwarded.set(file, (this.#forwarded.get(file) ?? 0) + 1);
        response.end();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  }

  async #order(kind: 'slow' | 'usual', count: number): Promise<string[]> {
    const from = this.#ordered.length;
    const urls = Array.from({ length: count }, (_, at) => `https://example.com/${kind}-${from + at}.mp3`);
    const ids = (await runWell(['order', ...urls, '--sku', 'EMSR02', '--quiet'], this.#env))
      .trim()
      .split('\n');
    if (ids.length !== count) throw new Error(`${count} files were ordered, and ${ids.length} came back`);
    this.#ordered.push(...ids);
    return ids;
  }

  async #orderUntil(end: number, running: readonly Running[]): Promise<void> {
    for (let next = performance.now(); next < end; next += ORDER_EVERY_MS) {
      await sleep(Math.max(0, next - performance.now()));
      for (const each of running)
        if (!each.isRunning) throw new Error(`${each.name} has ended: ${each.printed('err')}`);
      await this.#order('usual', FILES_PER_ORDER);
    }
  }

  async #sampleUntil(end: number, running: readonly Running[]): Promise<void> {
    for (const { name } of running) this.#samples.set(name, []);
    while (canSample && performance.now() < end) {
      for (const { name, pid } of running) {
        const found = sample(pid);
        if (found) this.#samples.get(name)?.push(found);
      }
      await sleep(SAMPLE_EVERY_MS);
    }
  }

  /** Until all is delivered and noticed; then they end. */
  async #settle({ sandbox, listen, wait }: Parts): Promise<string[]> {
    const end = performance.now() + GRACE_MS;
    const isNoticed = async (): Promise<boolean> => {
      const { found, events } = await this.#outcome();
      return this.#ordered.every((id) => found.has(id) || events.has(id));
    };
    while (performance.now() < end && (wait.isRunning || !(await isNoticed()))) await sleep(5_000);
    // Downloads and forwards of the last ones.
    await sleep(3_000);
    const waited = wait.isRunning ? undefined : await wait.ended;
    const [listened, served] = [await listen.interrupt(), await sandbox.interrupt()];
    if (wait.isRunning) await wait.interrupt();
    return [
      ...(waited === 0 ? [] : [`wait ended with ${waited}: ${wait.printed('err')}`]),
      ...(listened === 130 ? [] : [`listen ended with ${listened}: ${listen.printed('err')}`]),
      ...(served === 130 ? [] : [`the sandbox ended with ${served}: ${sandbox.printed('err')}`]),
      ...(/warning/i.test(listen.printed('err')) ? [`listen said: ${listen.printed('err')}`] : []),
    ];
  }

  #trends(): string[] {
    return [...this.#samples].flatMap(([name, samples]) => {
      const { text, complaints } = trendOf(name, samples);
      process.stdout.write(`${text}\n`);
      return canSample ? complaints : [];
    });
  }

  async #outcome(): Promise<Outcome> {
    const list = async (...args: string[]): Promise<Array<Record<string, unknown>>> =>
      JSON.parse(await runWell([...args, '--limit', '1000000', '--json'], this.#env));
    const counted = (rows: ReadonlyArray<Record<string, unknown>>): Map<string, number> => {
      const counts = new Map<string, number>();
      for (const { event, audiofile, source } of rows) {
        const file = String(audiofile);
        if (event === 'TRANSCRIPT_COMPLETE' && source !== 'test')
          counts.set(file, (counts.get(file) ?? 0) + 1);
      }
      return counts;
    };
    const files = await list('files');
    return {
      folder: join(folder, 'user'),
      service: join(folder, 'service'),
      ordered: this.#ordered,
      waited: this.#waited,
      kept: this.#webhook.kept,
      lost: this.#webhook.lost,
      refused: this.#webhook.refused,
      delivered: new Set(
        files.filter(({ ended }) => ended === 'delivered').map((file) => String(file.audiofile)),
      ),
      events: counted(await list('events')),
      found: counted(await list('events', '--found')),
      forwarded: this.#forwarded,
    };
  }
}

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

process.stdout.write(`soaking for ${MINUTES} minutes\n`);
const complaints = await new Soak().run();
for (const each of complaints) process.stderr.write(`${each}\n`);
if (complaints.length) process.exitCode = 1;
else recordProof('soak', { minutes: MINUTES });
