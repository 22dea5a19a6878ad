/** How many events `listen` keeps, against a server that keeps none. */
import { spawnSync } from 'node:child_process';
import { keptEvents } from './ledgers.ts';
import type { Row, Subject } from './measure.ts';
import type { Env, Place, Running } from './place.ts';

const nothing: Subject = { once: () => 0 };

export async function listenRows(place: Place, quick: boolean): Promise<Row[]> {
  const row = {
    key: 'listen',
    what: '`listen`, 64 connections, every event durable before its 200',
    against: 'a bare `node:http` server that keeps nothing',
    must: 0.75,
    aim: 0.95,
    rate: true,
  };
  const skipped = whyNoListen(place);
  if (skipped !== undefined) return [{ ...row, subject: nothing, base: nothing, skipped }];
  const events = quick ? 4000 : 10_000;
  const listen = place.whileMeasured(await startListen(place));
  const bare = place.whileMeasured(await place.startOwn('bare'));
  const on = ({ url }: Running): Subject => ({ once: () => sendEvents(place, url, events) });
  return [{ ...row, subject: on(listen), base: on(bare) }];
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
