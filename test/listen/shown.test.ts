/** What was answered is shown: by the session that answered it, or by the next one that shows the same events. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { queryLedger } from '../support/ledger.ts';
import { complete, form, Listener } from '../support/listener.ts';
import { sliceOf } from '../support/slices.ts';
import { User } from '../support/steno.ts';
import { lockLedger } from '../support/waiting.ts';

const TICK = { STENO_TEST_TICK_MS: '50' };

const shownBy = (...listeners: readonly Listener[]): string[] =>
  listeners.flatMap(({ json }) => json.map(({ audiofile }) => String(audiofile)));

/** What a session shows that takes what is left, and then ends. */
async function shownByNext(user: User, ...args: readonly string[]): Promise<string[]> {
  const { stdout } = await user.run(['listen', '--port', '0', '--quiet', '--timeout', '1s', ...args]);
  return stdout.split('\n').filter(Boolean);
}

const ids = (count: number, from = 1): string[] =>
  Array.from({ length: count }, (_, at) => String(from + at));

/** Sends all at once; gives those that were answered with 200. */
async function sendAll(listener: Listener, all: readonly string[]): Promise<string[]> {
  const answers = await Promise.all(
    all.map(async (id) => {
      const answer = await listener.post(complete(id)).catch(() => undefined);
      return answer?.status === 200 ? id : undefined;
    }),
  );
  return answers.filter((id) => id !== undefined);
}

const sorted = (all: readonly string[]): string[] => [...all].sort((a, b) => Number(a) - Number(b));

describe('an event that is answered right before the end', () => {
  it.each(sliceOf(['SIGINT', 'SIGTERM', 'SIGHUP'] as const, 3))(
    'is shown by the session itself: %s',
    async (signal) => {
      const user = new User(TICK);
      for (const id of ids(5)) {
        const listener = await Listener.start(user, ['--json']);
        expect((await listener.post(complete(id))).status).toBe(200);
        await listener.stop(signal);
        expect(shownBy(listener)).toEqual([id]);
      }
      expect(await shownByNext(user)).toEqual([]);
    },
  );

  it('is shown by the session itself, of many that come while it ends', async () => {
    const user = new User(TICK);
    const listener = await Listener.start(user, ['--json']);
    const sending = sendAll(listener, ids(300));
    await listener.until(() => listener.json.length > 0);
    const { code, stderr } = await listener.stop('SIGTERM');
    expect([code, sorted(shownBy(listener))]).toEqual([143, sorted(await sending)]);
    expect(stderr).not.toMatch(/left for the next listen/);
  });

  it('is shown by the session itself when its time runs out', async () => {
    const user = new User(TICK);
    const listener = await Listener.start(user, ['--json', '--timeout', '1s']);
    const answered: string[] = [];
    for (let id = 1; listener.child.exitCode === null; id += 1)
      answered.push(...(await sendAll(listener, [String(id)])));
    const { code } = await listener.ended;
    expect([code, shownBy(listener)]).toEqual([6, answered]);
    expect(await shownByNext(user)).toEqual([]);
  });

  it('may be the one that was waited for: then the time did not run out', async () => {
    const user = new User(TICK);
    const listener = await Listener.start(user, ['--json', '--count', '1', '--timeout', '1500ms']);
    const lock = lockLedger(user);
    // It waits beside the ledger, and comes into the ledger after the time is over.
    expect((await listener.post(complete('1'))).status).toBe(200);
    await sleep(1_600);
    lock.release();
    const { code } = await listener.ended;
    expect([code, shownBy(listener), await shownByNext(user)]).toEqual([0, ['1'], []]);
  });
});

describe('what comes after the last event', () => {
  it('is left by --count to the next session, which counts it', async () => {
    const user = new User(TICK);
    const listener = await Listener.start(user, ['--json', '--count', '20']);
    const sending = sendAll(listener, ids(200));
    const { code, stderr } = await listener.ended;
    const answered = await sending;
    expect([code, shownBy(listener).length]).toEqual([0, 20]);
    const left = answered.length - 20;
    expect(stderr.includes(`${left} event`)).toBe(left > 0);
    const next = await user.run([
      'listen',
      '--port',
      '0',
      '--quiet',
      '--count',
      String(left),
      '--timeout',
      '9s',
    ]);
    expect(next.code).toBe(0);
    expect(sorted([...shownBy(listener), ...next.stdout.split('\n').filter(Boolean)])).toEqual(
      sorted(answered),
    );
  });

  it('is left by --until to the next session, whose --until it ends', async () => {
    const user = new User(TICK);
    const listener = await Listener.start(user, ['--json', '--until', 'TRANSCRIPT_COMPLETE']);
    const sending = sendAll(listener, ids(100));
    expect((await listener.ended).code).toBe(0);
    const answered = await sending;
    const seen = shownBy(listener);
    for (let rounds = 0; rounds < 3 && seen.length < answered.length; rounds += 1) {
      const next = await user.run(['listen', '--port', '0', '--quiet', '--until', 'TRANSCRIPT_COMPLETE']);
      expect(next.code).toBe(0);
      expect(next.stdout).toMatch(/^\d+\n$/);
      seen.push(next.stdout.trim());
    }
    seen.push(...(await shownByNext(user)));
    expect(sorted(seen)).toEqual(sorted(answered));
  });

  it('is shown by a loop of --count 1, one by one', async () => {
    const user = new User(TICK);
    const seen: string[] = [];
    const answered: string[] = [];
    let from = 1;
    while (from <= 40) {
      const listener = await Listener.start(user, ['--json', '--count', '1']);
      const sending = sendAll(listener, ids(4, from));
      from += 4;
      expect((await listener.ended).code).toBe(0);
      answered.push(...(await sending));
      expect(shownBy(listener)).toHaveLength(1);
      seen.push(...shownBy(listener));
    }
    while (seen.length < answered.length) {
      const { code, stdout } = await user.run(['listen', '--port', '0', '--quiet', '--count', '1']);
      expect(code).toBe(0);
      seen.push(stdout.trim());
    }
    expect(sorted(seen)).toEqual(sorted(answered));
    expect(await shownByNext(user)).toEqual([]);
  });
});

describe('what a session that was killed has not shown', () => {
  /** A session that keeps events and shows none: nothing reads its output. */
  async function leaveUnshown(
    user: User,
    all: readonly string[],
    args: readonly string[] = [],
  ): Promise<void> {
    const listener = await Listener.start(user, ['--json', ...args]);
    await sendAll(listener, all);
    await listener.stop('SIGKILL');
    forgetShown(user);
  }

  /** As if it had been killed before it noted that these events were shown. */
  const forgetShown = (user: User, after = 0): unknown =>
    queryLedger(user, `UPDATE events SET listener = (SELECT max(id) FROM runs) WHERE id > ${after}`);

  it('is shown and counted by the next one, in its order', async () => {
    const user = new User(TICK);
    await leaveUnshown(user, ids(1));
    await leaveUnshown(user, ids(1, 2));
    const next = await user.run(['listen', '--port', '0', '--json', '--count', '2', '--timeout', '9s']);
    expect(next.code).toBe(0);
    expect(
      next.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { n: 1, audiofile: '1', source: 'received' },
      { n: 2, audiofile: '2' },
    ]);
    expect(await shownByNext(user)).toEqual([]);
  });

  it('is shown by one that shows the same events, and by no other', async () => {
    const user = new User(TICK);
    const only = ['--only', 'TRANSCRIPT_COMPLETE,REFUND_ISSUED'];
    await leaveUnshown(user, ids(2), only);
    expect(await shownByNext(user)).toEqual([]);
    expect(await shownByNext(user, '--only', 'TRANSCRIPT_COMPLETE')).toEqual([]);
    const same = ['--only', 'REFUND_ISSUED', '--only', 'TRANSCRIPT_COMPLETE'];
    expect(sorted(await shownByNext(user, ...same))).toEqual(['1', '2']);
    expect(await shownByNext(user, ...only)).toEqual([]);
  });

  it('is shown without what its filter leaves out', async () => {
    const user = new User(TICK);
    const only = ['--only', 'REFUND_ISSUED'];
    const listener = await Listener.start(user, [...only, '--json']);
    for (const event of ['TRANSCRIPT_COMPLETE', 'REFUND_ISSUED', 'DIFFICULT_AUDIO'])
      await listener.post(form({ event, audiofile: event.length.toString(), order: 'o' }));
    await listener.stop('SIGKILL');
    forgetShown(user);
    expect(await shownByNext(user, ...only)).toEqual(['13']);
  });

  it('is shown by one of two that start at the same time', async () => {
    const user = new User(TICK);
    await leaveUnshown(user, ids(50));
    const both = await Promise.all([Listener.start(user, ['--json']), Listener.start(user, ['--json'])]);
    await both[0].until(() => shownBy(...both).length >= 50);
    await sleep(300);
    for (const listener of both) await listener.stop();
    expect(sorted(shownBy(...both))).toEqual(ids(50));
  });

  it('is taken over once more where the session that took it over was killed too', async () => {
    const user = new User(TICK);
    await leaveUnshown(user, ids(3));
    const second = await Listener.start(user, ['--json']);
    await second.until(() => shownBy(second).length === 3);
    await second.until(
      () => queryLedger(user, 'SELECT id FROM events WHERE listener IS NOT NULL').length === 0,
    );
    await second.stop('SIGKILL');
    forgetShown(user, 1);
    expect(sorted(await shownByNext(user))).toEqual(['2', '3']);
  });

  it('is shown whole where it waits beside the ledger, however much that is', async () => {
    const user = new User(TICK);
    const listener = await Listener.start(user);
    const lock = lockLedger(user);
    const answered: string[] = [];
    for (let from = 1; from <= 1_001; from += 100)
      answered.push(...(await sendAll(listener, ids(100, from))));
    await listener.stop('SIGKILL');
    lock.release();
    expect(answered).toHaveLength(1_100);
    const args = ['listen', '--port', '0', '--quiet', '--count', '1100', '--timeout', '20s'];
    const { code, stdout } = await user.run(args);
    expect([code, sorted(stdout.split('\n').filter(Boolean))]).toEqual([0, ids(1_100)]);
  });

  it('is never taken for a pruned one: numbers are not used again', async () => {
    const user = new User(TICK);
    const listener = await Listener.start(user, ['--json']);
    await sendAll(listener, ['1']);
    await sendAll(listener, ['2']);
    await listener.until(() => shownBy(listener).length === 2);
    queryLedger(user, 'DELETE FROM events RETURNING id');
    await sendAll(listener, ['3']);
    await listener.stop('SIGKILL');
    expect(queryLedger(user, 'SELECT id, audiofile FROM events')).toEqual([{ id: 3, audiofile: '3' }]);
  });
});
