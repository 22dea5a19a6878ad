import { existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Account, account } from '../support/account.ts';
import { queryLedger } from '../support/ledger.ts';
import { complete, eventsOf, Listener, Target } from '../support/listener.ts';
import type { User } from '../support/steno.ts';

/** The listener asks about files with news every third tick, and about all of them every sixtieth. */
const TICK = 40;
const EXEC = 'echo "$STENO_EVENT_AUDIOFILE $STENO_EVENT_SOURCE" >> ran.txt';

interface Ordered extends Account {
  state(name: string): void;
  /** Waits until the look-out has asked about each file again, and many ticks more. */
  ticks(): Promise<void>;
}

const idOf = (path: string): number => Number(/\d+$/.exec(path)?.[0]);

const answerWith = (response: ServerResponse, id: number, statename: string): void =>
  void response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ audiofile: { id, statename, title: 'Talk' } }));

/** An account with the files 7 and 8 on order, whose state a test sets. */
async function ordered(): Promise<Ordered> {
  const made = await account({ STENO_TEST_TICK_MS: String(TICK) });
  const { service, user } = made;
  let statename = 'Transcribing';
  service.on('POST /order_url', { body: { order: '4nX', audiofiles: [7, 8], message: 'ok' } });
  service.on('*', ({ path }, response) => answerWith(response, idOf(path), statename));
  const urls = ['https://example.com/a.mp3', 'https://example.com/b.mp3'];
  const { code, stderr } = await user.run(['order', ...urls, '--sku', 'TRANS14']);
  if (code !== 0) throw new Error(stderr);
  return {
    ...made,
    state: (name) => {
      statename = name;
    },
    ticks: () => sleep(25 * TICK),
  };
}

const ran = ({ home }: User): string[] => {
  const path = join(home, 'ran.txt');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
};

const endedOf = (user: User): string[] =>
  queryLedger<{ ended: string }>(user, 'SELECT ended FROM files ORDER BY seq').map(({ ended }) => ended);

describe('a delivery that came', () => {
  it('leads to one action, however often its file is asked about, and is never also found', async () => {
    const { user, state, ticks } = await ordered();
    const listener = await Listener.start(user, ['--exec', EXEC, '--json']);
    await ticks();
    expect((await listener.post(complete('7', '4nX'))).status).toBe(200);
    // The service still calls it open: this is when a tick would expect its event once more.
    await ticks();
    state('Delivered');
    await listener.post(complete('8', '4nX'));
    await listener.until(() => endedOf(user).join() === 'delivered,delivered');
    await ticks();
    expect(ran(user).sort()).toEqual(['7 received', '8 received']);
    expect(listener.json.map(({ source }) => source)).toEqual(['received', 'received']);
    expect(await eventsOf(user, '--found')).toEqual([]);
    await listener.stop();
  });

  it('counts once: --count 2 ends after two', async () => {
    const { user, service, ticks } = await ordered();
    const listener = await Listener.start(user, ['--exec', EXEC, '--count', '2']);
    await listener.post(complete('7', '4nX'));
    await ticks();
    service.on('GET /audiofile/7', { body: { audiofile: { id: 7, statename: 'Delivered', title: 'Talk' } } });
    await listener.until(() => endedOf(user)[0] === 'delivered');
    await ticks();
    expect(listener.child.exitCode).toBeNull();
    await listener.post(complete('8', '4nX'));
    expect((await listener.ended).code).toBe(0);
    expect(ran(user).sort()).toEqual(['7 received', '8 received']);
  });

  it('is remembered by the next listener, and by one that runs beside it', async () => {
    const { user, state, ticks } = await ordered();
    const first = await Listener.start(user, ['--exec', EXEC]);
    const beside = await Listener.start(user, ['--exec', EXEC]);
    await ticks();
    await first.post(complete('7', '4nX'));
    await first.post(complete('8', '4nX'));
    await first.until(() => ran(user).length === 2);
    await first.stop();
    state('Delivered');
    const next = await Listener.start(user, ['--exec', EXEC]);
    await next.until(() => endedOf(user).join() === 'delivered,delivered');
    await ticks();
    expect(ran(user).sort()).toEqual(['7 received', '8 received']);
    expect(await eventsOf(user, '--found')).toEqual([]);
    await Promise.all([next.stop(), beside.stop()]);
  });

  it('is not found though it comes while the service is being asked about its file', async () => {
    const { user, service, ticks } = await ordered();
    let answer: (() => void) | undefined;
    // The answer that is under way is out of date when it arrives; the next ones are not.
    service.on(
      'GET /audiofile/7',
      (_, response) => {
        answer = () => answerWith(response, 7, 'Transcribing');
      },
      { body: { audiofile: { id: 7, statename: 'Delivered', title: 'Talk' } } },
    );
    const listener = await Listener.start(user, ['--exec', EXEC]);
    await listener.until(() => answer !== undefined);
    await listener.post(complete('7', '4nX'));
    answer?.();
    await listener.until(() => endedOf(user)[0] === 'delivered');
    await ticks();
    expect(ran(user)).toEqual(['7 received']);
    expect(await eventsOf(user, '--found')).toEqual([]);
    await listener.stop();
  });

  it('is not found though the answer that is under way says that its file is delivered', async () => {
    const { user, service, ticks } = await ordered();
    let answer: (() => void) | undefined;
    service.on('GET /audiofile/7', (_, response) => {
      if (answer) return answerWith(response, 7, 'Delivered');
      answer = () => answerWith(response, 7, 'Delivered');
    });
    const listener = await Listener.start(user, ['--exec', EXEC, '--count', '2']);
    await listener.until(() => answer !== undefined);
    await listener.post(complete('7', '4nX'));
    answer?.();
    await listener.until(() => endedOf(user)[0] === 'delivered');
    await ticks();
    expect(listener.child.exitCode).toBeNull();
    expect(ran(user)).toEqual(['7 received']);
    expect(await eventsOf(user, '--found')).toEqual([]);
    await listener.stop();
  });

  it('is not found though it came before its order was in the ledger', async () => {
    const { user, service } = await account({ STENO_TEST_TICK_MS: String(TICK) });
    const listener = await Listener.start(user, ['--exec', EXEC]);
    await listener.post(complete('7', '4nX'));
    service.on('POST /order_url', { body: { order: '4nX', audiofiles: [7], message: 'ok' } });
    service.on('GET /audiofile/7', { body: { audiofile: { id: 7, statename: 'Delivered', title: 'Talk' } } });
    await user.run(['order', 'https://example.com/a.mp3', '--sku', 'TRANS14']);
    await listener.until(() => endedOf(user)[0] === 'delivered');
    await sleep(25 * TICK);
    expect(ran(user)).toEqual(['7 received']);
    expect(await eventsOf(user, '--found')).toEqual([]);
    await listener.stop();
  });

  it('leads to an action of its own when the service sends it a second time', async () => {
    const { user, state, ticks } = await ordered();
    const listener = await Listener.start(user, ['--exec', EXEC]);
    await ticks();
    state('Delivered');
    await listener.post(complete('7', '4nX'));
    await listener.post(complete('7', '4nX'));
    await listener.until(() => endedOf(user)[0] === 'delivered');
    await listener.post(complete('7', '4nX'));
    await ticks();
    expect(ran(user)).toEqual(['7 received', '7 received', '7 received']);
    await listener.stop();
  });
});

describe('under load, with listeners that are killed', () => {
  const FILES = 60;
  const RUN = 'echo "$STENO_EVENT_N $STENO_EVENT_AUDIOFILE $STENO_EVENT_TRY" >> ran.txt';

  it('each delivery leads to one action, repeated only where a kill left its end unknown; none is found', async () => {
    const { service, user } = await account({ STENO_TEST_TICK_MS: String(TICK) });
    const ids = Array.from({ length: FILES }, (_, n) => 100 + n);
    service.on('POST /order_url', { body: { order: '4nX', audiofiles: ids, message: 'ok' } });
    // Every second delivery gets lost.
    const sent = ids.filter((id) => id % 2 === 0);
    let statename = 'Transcribing';
    service.on('*', ({ path }, response) => answerWith(response, idOf(path), statename));
    const urls = ids.map((id) => `https://example.com/${id}.mp3`);
    expect((await user.run(['order', ...urls, '--sku', 'TRANS14', '--per-order', '100'])).code).toBe(0);
    const start = (): Promise<Listener> => Listener.start(user, ['--exec', RUN, '--jobs', '8']);
    const answered = new Set<string>();
    const left = [...sent];
    for (let round = 0; round < 3; round += 1) {
      const listener = await start();
      const posting = left.splice(0, 10).map(async (id) => {
        const { status } = await listener.post(complete(String(id), '4nX'));
        if (status === 200) answered.add(String(id));
      });
      await Promise.race([Promise.all(posting), sleep(30 + 30 * round)]);
      await listener.stop('SIGKILL');
      await Promise.allSettled(posting);
    }
    statename = 'Delivered';
    const last = await start();
    const runs = (): string[][] => ran(user).map((line) => line.split(' '));
    await last.until(() => new Set(runs().map(([, id]) => id)).size === FILES);
    await sleep(25 * TICK);
    const came = (await eventsOf(user)).map(({ audiofile }) => audiofile);
    expect([...answered].filter((id) => !came.includes(id))).toEqual([]);
    const found = (await eventsOf(user, '--found')).map(({ audiofile }) => audiofile);
    expect(found.filter((id) => came.includes(id))).toEqual([]);
    expect(found.length + came.length).toBe(FILES);
    // A run is told from its repetition by its number of the try.
    const tries = runs().map((run) => run.join(' '));
    expect(new Set(tries).size).toBe(tries.length);
    expect(tries.length).toBeLessThanOrEqual(FILES + 3 * 8);
    expect(new Set(runs().map(([n, id]) => `${n} ${id}`)).size).toBe(FILES);
    await last.stop();
  }, 60_000);
});

describe('a delivery that got lost', () => {
  it('is found once and leads to one action, with two listeners and in the next one', async () => {
    const { user, state, ticks } = await ordered();
    const listeners = [
      await Listener.start(user, ['--exec', EXEC]),
      await Listener.start(user, ['--exec', EXEC]),
    ];
    await ticks();
    state('Delivered');
    await listeners[0]?.until(() => ran(user).length === 2);
    await ticks();
    await Promise.all(listeners.map((listener) => listener.stop()));
    const next = await Listener.start(user, ['--exec', EXEC]);
    await ticks();
    await next.stop();
    expect(ran(user).sort()).toEqual(['7 found', '8 found']);
    expect(await eventsOf(user, '--found')).toHaveLength(2);
    expect(await eventsOf(user)).toEqual([]);
  });

  it('is kept, shown and forwarded when it comes late, but neither run nor counted again', async () => {
    const { user, state, ticks } = await ordered();
    const target = await Target.start();
    const args = ['--exec', EXEC, '--forward-to', target.url, '--json', '--count', '3'];
    const listener = await Listener.start(user, args);
    await ticks();
    state('Delivered');
    await listener.until(() => ran(user).length === 2 && target.got.length === 2);
    await listener.post(complete('7', '4nX'));
    await listener.until(() => target.got.length === 3);
    expect(target.got.map(({ headers }) => headers['steno-found'])).toEqual(['true', 'true', undefined]);
    expect(String(target.got[2]?.body)).toBe(complete('7', '4nX'));
    await ticks();
    expect(listener.child.exitCode).toBeNull();
    expect(ran(user).sort()).toEqual(['7 found', '8 found']);
    expect(await eventsOf(user, '--found')).toMatchObject([{ audiofile: '8' }]);
    expect(await eventsOf(user)).toMatchObject([{ n: 3, audiofile: '7', source: 'received' }]);
    const { stdout } = await user.run(['events', 'show', '3', '--json']);
    const { duplicate, actions } = JSON.parse(stdout) as { duplicate: number; actions: object[] };
    expect(actions).toMatchObject([{ kind: 'forward', status: 'done' }]);
    expect((await user.run(['events', 'show', String(duplicate)])).stdout).toMatch(/^duplicate\t3$/m);
    // The service sends it once more: this one is a delivery of its own, and the third that counts.
    await listener.post(complete('7', '4nX'));
    expect((await listener.ended).code).toBe(0);
    expect(ran(user).sort()).toEqual(['7 found', '7 received', '8 found']);
    expect(listener.json.map(({ source }) => source)).toEqual(['found', 'found', 'received', 'received']);
  });

  it('is not run again when it comes to the next listener, unless that has another action', async () => {
    const { user, state, ticks } = await ordered();
    const first = await Listener.start(user, ['--exec', EXEC]);
    await ticks();
    state('Delivered');
    await first.until(() => ran(user).length === 2);
    await first.stop();
    const next = await Listener.start(user, ['--exec', EXEC, '--count', '1', '--json']);
    await next.post(complete('7', '4nX'));
    expect((await next.ended).code).toBe(0);
    expect(next.json).toMatchObject([{ source: 'received' }]);
    expect(ran(user).sort()).toEqual(['7 found', '8 found']);
    const other = await Listener.start(user, ['--exec', 'touch other', '--count', '1']);
    await other.post(complete('8', '4nX'));
    expect((await other.ended).code).toBe(0);
    expect(existsSync(join(user.home, 'other'))).toBe(true);
    expect(await eventsOf(user, '--found')).toEqual([]);
  });
});
