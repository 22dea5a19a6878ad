/** How many events `listen` keeps, against a server that keeps none. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { keptEvents } from './ledgers.ts';
import type { Row, Subject } from './measure.ts';
import type { Env, Place, Running } from './place.ts';

const nothing: Subject = { once: () => 0 };

export async function listenRows(place: Place, quick: boolean): Promise<Row[]> {
  const row = {
    key: 'listen',
    what: '`listen`, 64 connections, every event durable before its 200',
    against: 'a bare `node:http` server that keeps nothing',
    must: 0.87,
    aim: 0.95,
    rate: true,
  };
  const skipped = whyNoListen(place);
  if (skipped !== undefined) return [{ ...row, subject: nothing, base: nothing, skipped }];
  const events = quick ? 4000 : 10_000;
  const listen = await startListen(place);
  place.whileMeasured(listen);
  const bare = place.whileMeasured(await place.startOwn('bare'));
  const on = ({ url }: Running): Subject => ({ once: () => sendEvents(place, url, events) });
  const subject = { once: () => sendAndRest(place, listen, events) };
  return [{ ...row, subject, base: on(bare) }];
}

/** Counted until all is in its ledger. */
export function sendAndRest(place: Place, { url, env }: Listening, events: number): number {
  const ledger = new DatabaseSync(join(env.STENO_STATE_DIR ?? '', 'ledger.db'), { readOnly: true });
  const count = ledger.prepare('SELECT count(*) AS n FROM events');
  const kept = (): number => Number((count.get() as { n: number }).n);
  const all = kept() + events;
  const took = sendEvents(place, url, events);
  const answered = performance.now();
  while (kept() < all) {
    if (performance.now() - answered > 30_000)
      throw new Error('listen does not move its events into the ledger');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
  ledger.close();
  return took + (performance.now() - answered) * 1e6;
}

export interface Listening extends Running {
  readonly env: Env;
}

export async function startListen(place: Place): Promise<Listening> {
  const env = place.env(place.fresh('listen'));
  return { ...(await place.start([place.bin, 'listen', '--port', '0'], env)), env };
}

/** Kills it where it stands: whatever it has answered must be in its ledger. */
export async function killListen({ stop, env }: Listening, answered: number): Promise<void> {
  await stop();
  const kept = await keptEvents(env);
  if (kept !== answered) throw new Error(`listen answered ${answered} events and kept ${kept}`);
}

export function whyNoListen(place: Place): string | undefined {
  const args = [place.bin, 'listen', '--help'];
  const { stdout } = spawnSync(process.execPath, args, {
    env: place.env(place.fresh('none')),
    encoding: 'utf8',
  });
  return /steno listen/.test(stdout) ? undefined : 'there is no `listen` yet';
}

let nextId = 1;
/** Sends so many events, each of them new; tells how long it took, or throws if one was not taken. */
export function sendEvents(place: Place, url: string, events: number): number {
  const args = [place.script('load'), url, String(events), String(nextId)];
  nextId += events;
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const { answered, refused, took } = JSON.parse(stdout || '{}') as Partial<Record<string, number>>;
  if (answered !== events || refused !== 0) {
    throw new Error(`${answered} of ${events} events were answered, ${refused} refused: ${stderr}`);
  }
  return (took ?? 0) * 1e6;
}
