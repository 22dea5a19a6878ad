/** A shared ledger: what it costs in round trips, how it grows, and what a listener keeps at its door. */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { type PostgresServer, postgresFolder, startPostgres } from '../support/postgres.ts';
import { CountingProxy } from '../support/proxies.ts';
import { sendEvents } from './listen.ts';
import { type Row, run, type Subject } from './measure.ts';
import type { Env, Place } from './place.ts';
import type { Found, WeighedRow } from './weigh.ts';

const TABLE = 'shared ledger (PostgreSQL)';
export const noServer = postgresFolder
  ? undefined
  : 'no PostgreSQL is installed (Debian: apt-get install postgresql)';
const nothing: Subject = { once: () => 0 };

let started: Promise<PostgresServer> | undefined;

export function theServer(): Promise<PostgresServer> {
  started ??= startPostgres(['max_wal_size = 4GB']);
  return started;
}

export async function stopServer(): Promise<void> {
  await (await started)?.stop();
}

/** Users of new ledgers, with the tables made and so many files in each. */
async function newLedger(place: Place, files: number, state = 'Delivered'): Promise<Env> {
  const server = await theServer();
  const url = await server.newDatabase();
  const env = { ...place.env(place.fresh('shared')), STENO_LEDGER: url };
  await steno(place, env, ['files']);
  const numbers = `generate_series(1, ${files}) AS n`;
  const at = "'2026-01-01T00:00:00.000Z'";
  const ended = state === 'Delivered' ? 'delivered' : '';
  for (const sql of [
    `INSERT INTO steno.purchases (id, profile, kind, outcome, named, status, order_id, test, started_at, skus)
       SELECT 'p' || n, 'default', 'order', 'placed', 'o' || n, 'placed', 'o' || n, 0, ${at}, 'TRANS14' FROM ${numbers}`,
    `INSERT INTO steno.files (profile, id, purchase, order_id, link, test, state, ended, title, ordered_at, checked_at, answer)
       SELECT 'default', (100000 + n)::text, 'p' || n, 'o' || n, 'https://example.com/talks/' || n, 0, '${state}', '${ended}',
         'Talk ' || n, ${at}, ${at}, '{"audiofile":{"title":"Talk"}}' FROM ${numbers}`,
    'VACUUM ANALYZE steno.files',
    'VACUUM ANALYZE steno.purchases',
  ])
    await server.query(sql, new URL(url).pathname.slice(1));
  return env;
}

/** Without stopping this process, in which the proxy runs; gives what was printed. */
function steno(place: Place, env: Env, args: readonly string[]): Promise<string> {
  mkdirSync(env.BENCH_FOLDER ?? '', { recursive: true });
  const child = spawn(process.execPath, [place.bin, ...args], { env, cwd: env.BENCH_FOLDER });
  let [printed, said] = ['', ''];
  child.stdout.on('data', (text: Buffer) => {
    printed += text;
  });
  child.stderr.on('data', (text: Buffer) => {
    said += text;
  });
  return new Promise((done, failed) => {
    child.on('close', (code) =>
      code === 0 ? done(printed) : failed(new Error(`${args.join(' ')}: exit ${code}\n${said}`)),
    );
  });
}

export async function sharedRows(place: Place, quick: boolean): Promise<Row[]> {
  const many = quick ? 100_000 : 1_000_000;
  const row = {
    key: 'shared-files',
    what: `\`files\`, first page, on ${many.toLocaleString('en')} files of a shared ledger`,
    against: 'the same on 1,000 files',
    must: 1.3,
  };
  if (noServer) return [{ ...row, subject: nothing, base: nothing, skipped: noServer }];
  const on = (env: Env): Subject =>
    run({ args: () => [place.bin, 'files', '--limit', '50'], env, expect: /^\d/ });
  return [{ ...row, subject: on(await newLedger(place, many)), base: on(await newLedger(place, 1_000)) }];
}

export function sharedCounts(place: Place, quick: boolean): WeighedRow[] {
  const [files, events] = quick ? [2_000, 10_000] : [10_000, 50_000];
  const common = { table: TABLE } as const;
  const rows: WeighedRow[] = [
    {
      ...{ ...common, key: 'shared-order', unit: 'round trips', must: 4 },
      what: '`order`: three round trips before it is sent, one after',
      weigh: () => tripsOf(place, 0, ['order', 'https://example.com/new.mp3', '--sku', 'TRANS14', '--quiet']),
    },
    {
      ...{ ...common, key: 'shared-sync', unit: 'round trips', must: files / 100 },
      what: `\`files --refresh\` of ${files.toLocaleString('en')} open files: one a hundred files`,
      weigh: () => tripsOf(place, files, ['files', '--refresh', '--limit', '1', '--quiet']),
    },
    {
      ...{ ...common, key: 'shared-listen', unit: 'ms', must: 1_000 },
      what: '`listen`, 64 connections: 5,000 events kept',
      weigh: () => keep(place, events),
    },
  ];
  return rows.map((row) => (noServer ? { ...row, weigh: async () => ({ skipped: noServer }) } : row));
}

/** The round trips of a command, connecting aside. */
async function tripsOf(place: Place, files: number, args: readonly string[]): Promise<Found> {
  const env = await newLedger(place, files, 'Transcribing');
  const { port } = await theServer();
  const proxy = await CountingProxy.start(port);
  await steno(place, { ...env, STENO_LEDGER: proxy.via(env.STENO_LEDGER ?? '') }, args);
  await proxy.stop();
  return { value: proxy.roundTrips };
}

/** How long 5,000 of the events took until they were answered; then all must be in the ledger, each once. */
async function keep(place: Place, events: number): Promise<Found> {
  const env = await newLedger(place, 0);
  const listen = await place.start([place.bin, 'listen', '--port', '0'], env);
  sendEvents(place, listen.url, 1_000);
  const ms = sendEvents(place, listen.url, events) / 1e6;
  const begunAt = performance.now();
  const server = await theServer();
  const database = new URL(env.STENO_LEDGER ?? '').pathname.slice(1);
  for (let kept = 0; kept < events + 1_000; ) {
    const [row] = await server.query('SELECT count(*)::integer AS n FROM steno.events', database);
    kept = Number(row?.n);
    if (kept > events + 1_000) throw new Error(`${events + 1_000} events were sent, and ${kept} are kept`);
    if (performance.now() - begunAt > 300_000) throw new Error(`only ${kept} events are in the ledger`);
    await new Promise((done) => setTimeout(done, 100));
  }
  const later = Math.round((performance.now() - begunAt) / 100) / 10;
  await listen.stop();
  return { value: Math.round((ms * 5_000) / events), note: `all in the ledger ${later} s later` };
}
