/** What a ledger can't take waits in waiting.db, and is moved from there into the ledger once. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { queryLedger } from '../support/ledger.ts';
import { complete, eventsOf, form, Listener, Target } from '../support/listener.ts';
import { signed } from '../support/signed.ts';
import { BIN, finished, KEY, type Result, User } from '../support/steno.ts';
import { hasStrace, isSync, startTraced } from '../support/strace.ts';
import { until } from '../support/until.ts';
import { keptIn, lockLedger, queryWaiting, waitingIn, waitingOf } from '../support/waiting.ts';

const TICK = { STENO_TEST_TICK_MS: '50' };

/** A listener that has answered these and is killed before any is in the ledger. */
async function leaveBehind(user: User, ids: readonly string[], args: readonly string[] = []): Promise<void> {
  const listener = await Listener.start(user, args);
  const lock = lockLedger(user);
  for (const id of ids) expect((await listener.post(complete(id))).status).toBe(200);
  await listener.stop('SIGKILL');
  lock.release();
}

const bodiesOf = (...ids: string[]): string[] => ids.map((id) => complete(id));

const ran = (user: User): string[] => {
  const path = join(user.home, 'ran');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
};

describe('waiting.db', () => {
  it('is for the owner alone, and holds neither the key nor a signature', async () => {
    const { user } = await account();
    const listener = await Listener.start(user);
    const lock = lockLedger(user);
    const link = signed('https://example.com/a.mp3');
    const fields = { event: 'TRANSCRIPT_COMPLETE', audiofile: '7', originallink: link, note: KEY };
    expect((await listener.post(form(fields))).status).toBe(200);
    const folder = dirname(waitingOf(user));
    const files = readdirSync(folder).filter((name) => name.startsWith('waiting.db'));
    for (const name of files) expect((statSync(join(folder, name)).mode & 0o777).toString(8)).toBe('600');
    expect((statSync(folder).mode & 0o777).toString(8)).toBe('700');
    const text = files.map((name) => readFileSync(join(folder, name), 'latin1')).join('');
    expect(text).toContain('audiofile=7');
    expect(text).not.toMatch(/c0ffee5ec7e7|very.*secret/);
    lock.release();
    await listener.stop();
  });

  it('is not made where the ledger takes every event', async () => {
    const user = new User();
    const listener = await Listener.start(user);
    for (const id of ['1', '2']) await listener.post(complete(id));
    await listener.stop();
    expect([keptIn(user), existsSync(waitingOf(user))]).toEqual([['1', '2'], false]);
  });

  it('is empty when all is in the ledger, which then takes events itself again', async () => {
    const user = new User();
    const listener = await Listener.start(user);
    const lock = lockLedger(user);
    for (const id of ['1', '2']) await listener.post(complete(id));
    expect(waitingIn(user)).toEqual(bodiesOf('1', '2'));
    lock.release();
    await listener.until(() => keptIn(user).length === 2 && waitingIn(user).length === 0);
    rmSync(waitingOf(user));
    await listener.post(complete('3'));
    expect([keptIn(user), existsSync(waitingOf(user))]).toEqual([['1', '2', '3'], false]);
    await listener.stop();
  });

  it('takes an event soon after the ledger was locked, and keeps the order of events', async () => {
    const user = new User(TICK);
    const listener = await Listener.start(user, ['--json']);
    await listener.post(complete('1'));
    const lock = lockLedger(user);
    for (const id of ['2', '3', '4']) expect((await listener.post(complete(id))).status).toBe(200);
    lock.release();
    await listener.post(complete('5'));
    await listener.until(() => keptIn(user).length === 5);
    await listener.until(() => listener.json.length === 5);
    await listener.stop();
    expect(keptIn(user)).toEqual(['1', '2', '3', '4', '5']);
    expect(listener.json.map(({ audiofile }) => audiofile)).toEqual(['1', '2', '3', '4', '5']);
  });

  it('outlives Ctrl-C while the ledger is locked: a line says so, and the next listener moves and shows it', async () => {
    const user = new User(TICK);
    const listener = await Listener.start(user);
    const lock = lockLedger(user);
    await listener.post(complete('1'));
    const { code, stderr } = await listener.stop();
    expect(code).toBe(130);
    expect(stderr).toMatch(/^warning: 1 event not in the ledger yet; saved in .*waiting\.db$/m);
    expect(stderr).toMatch(/^hint: the next steno listen or steno sync moves them to the ledger$/m);
    expect(await eventsOf(user)).toMatchObject([{ n: null, audiofile: '1', source: 'received' }]);
    lock.release();
    const next = await Listener.start(user, ['--json']);
    await next.until(() => next.json.length === 1);
    await next.stop();
    expect([keptIn(user), waitingIn(user)]).toEqual([['1'], []]);
    expect(next.json).toMatchObject([{ n: 1, audiofile: '1' }]);
  });

  it('that was deleted costs no event: what is in it is written anew', async () => {
    const user = new User(TICK);
    const listener = await Listener.start(user);
    const lock = lockLedger(user);
    await listener.post(complete('1'));
    for (const end of ['', '-wal', '-shm']) rmSync(waitingOf(user) + end, { force: true });
    expect((await listener.post(complete('2'))).status).toBe(200);
    expect(waitingIn(user)).toEqual(bodiesOf('1', '2'));
    await listener.stop('SIGKILL');
    lock.release();
    expect((await eventsOf(user)).map(({ audiofile }) => audiofile)).toEqual(['2', '1']);
  });

  it('that is damaged is kept under another name, and a new one takes events', async () => {
    const user = new User(TICK);
    await leaveBehind(user, ['1']);
    writeFileSync(waitingOf(user), Buffer.alloc(statSync(waitingOf(user)).size, 'Z'), { flag: 'r+' });
    for (const end of ['-wal', '-shm']) rmSync(waitingOf(user) + end, { force: true });
    const listed = await user.run(['events', '--json']);
    expect([listed.code, JSON.parse(listed.stdout)]).toEqual([0, []]);
    expect(listed.stderr).toMatch(
      /can't open .*waiting\.db, which may contain events and outcomes that are not in the ledger yet: .*damaged/,
    );
    const listener = await Listener.start(user);
    const lock = lockLedger(user);
    expect((await listener.post(complete('2'))).status).toBe(200);
    await listener.until(() =>
      /is damaged, and events and outcomes in it may be lost; saved as .*damaged-\w+/.test(listener.stderr),
    );
    expect(waitingIn(user)).toEqual(bodiesOf('2'));
    lock.release();
    await listener.until(() => keptIn(user).includes('2'));
    await listener.stop();
    expect(readdirSync(dirname(waitingOf(user))).filter((name) => /damaged-\w+$/.test(name))).toHaveLength(1);
  });

  it.skipIf(!hasStrace)('or the ledger is synced before the 200 is sent', async () => {
    const user = new User();
    const calls = ['listen', '--port', '0', '--count', '1'];
    const traced = startTraced(user, calls, 'read,write,writev,pwrite64,fdatasync,fsync');
    await until(() => /^listening on /m.test(traced.stderr), 'it listens');
    const url = /^listening on (\S+)$/m.exec(traced.stderr)?.[1] ?? '';
    expect((await fetch(url, { method: 'POST', body: new URLSearchParams(complete('1')) })).status).toBe(200);
    const { calls: made } = await traced.ended();
    const log = made.filter(({ target }) => /\/ledger\.db-wal/.test(target));
    const received = made.find(({ name, text }) => name === 'read' && /POST \/ HTTP/.test(text));
    const answered = made.find(({ text }) => /HTTP\/1\.1 200/.test(text));
    const written = log
      .filter(({ name, begun }) => name === 'pwrite64' && begun < (answered?.begun ?? 0))
      .at(-1);
    const synced = log.find((call) => isSync(call) && call.begun > (written?.ended ?? Infinity));
    const order = [
      received?.ended,
      written?.begun,
      written?.ended,
      synced?.begun,
      synced?.ended,
      answered?.begun,
    ];
    expect(order).toEqual([...order].sort((a = 0, b = 0) => a - b));
    expect(order).not.toContain(undefined);
  });
});

describe('what a listener that was killed has answered', () => {
  it('is listed without a number, and filtered like the others', async () => {
    const user = new User();
    await leaveBehind(user, ['1', '2']);
    expect(await eventsOf(user)).toMatchObject([
      { n: null, audiofile: '2', event: 'TRANSCRIPT_COMPLETE', fields: { order: 'o1' } },
      { n: null, audiofile: '1' },
    ]);
    expect(await eventsOf(user, '--file', '1')).toMatchObject([{ audiofile: '1' }]);
    expect(await eventsOf(user, '--order', 'o2')).toEqual([]);
    expect(await eventsOf(user, '--event', 'REFUND_ISSUED')).toEqual([]);
    expect(await eventsOf(user, '--since', '2999-01-01')).toEqual([]);
    expect(await eventsOf(user, '--found')).toEqual([]);
    expect(await eventsOf(user, '--limit', '1')).toMatchObject([{ audiofile: '2' }]);
    expect((await user.run(['events', '--quiet'])).stdout).toBe('');
    const { stdout } = await user.onTerminal('steno events');
    expect(stdout).toMatch(/2 events not in the ledger yet; each gets its number there/);
    // Looking moves nothing.
    expect([keptIn(user), waitingIn(user).length]).toEqual([[], 2]);
  });

  it('is acted on once, by the next listener with the same command', async () => {
    const user = new User(TICK);
    const exec = ['--exec', 'echo "$STENO_EVENT_AUDIOFILE" >> ran'];
    await leaveBehind(user, ['1', '2'], [...exec, '--only', 'TRANSCRIPT_COMPLETE']);
    const other = await Listener.start(user, ['--exec', 'touch other', '--json']);
    await other.until(() => keptIn(user).join() === '1,2');
    await other.post(complete('3'));
    await other.until(() => existsSync(join(user.home, 'other')));
    await other.stop();
    // One that shows other events shows none of them.
    expect(other.json.map(({ audiofile }) => audiofile)).toEqual(['3']);
    expect(ran(user)).toEqual([]);
    const same = await Listener.start(user, [...exec, '--only', 'TRANSCRIPT_COMPLETE', '--json']);
    await same.until(() => ran(user).length === 2);
    await same.until(() => same.json.length === 2);
    await same.stop();
    expect(ran(user).sort()).toEqual(['1', '2']);
    expect(same.json.map(({ audiofile }) => audiofile)).toEqual(['1', '2']);
    expect(keptIn(user)).toEqual(['1', '2', '3']);
  });

  it('is moved by sync too, which cron can run, and shown by the next listener', async () => {
    const { user } = await account();
    await leaveBehind(user, ['1', '2', '3']);
    const { code, stderr } = await user.run(['sync']);
    expect([code, keptIn(user), waitingIn(user)]).toEqual([0, ['1', '2', '3'], []]);
    expect(stderr).toMatch(/^moved 3 events of listeners that crashed to the ledger$/m);
    expect((await user.run(['sync'])).stderr).not.toMatch(/that crashed/);
    expect(keptIn(user)).toHaveLength(3);
    const next = await user.run(['listen', '--port', '0', '--count', '3', '--quiet']);
    expect([next.code, next.stdout]).toEqual([0, '1\n2\n3\n']);
  });

  it('stays for its own profile', async () => {
    const { user, service } = await account();
    await user.run(['config', 'set', 'base-url', service.baseUrl, '--profile', 'other']);
    await leaveBehind(user, ['1'], ['--profile', 'other']);
    await user.run(['sync']);
    expect([keptIn(user), await eventsOf(user)]).toEqual([[], []]);
    expect(waitingIn(user, 'other')).toHaveLength(1);
    const next = await Listener.start(user, ['--profile', 'other']);
    await next.until(() => keptIn(user).join() === '1');
    await next.stop();
    expect(await eventsOf(user, '--profile', 'other')).toMatchObject([{ n: 1 }]);
  });

  it('is left alone where a newer steno has written it', async () => {
    const user = new User();
    await leaveBehind(user, ['1']);
    queryWaiting(user, "INSERT INTO migrations (name, at) VALUES ('002-newer', '') RETURNING name");
    const next = await Listener.start(user);
    await next.until(() =>
      /waiting\.db, which may contain events and outcomes that are not in the ledger yet: .*written by a newer steno/.test(
        next.stderr,
      ),
    );
    await next.post(complete('2'));
    await next.stop();
    expect([keptIn(user), waitingIn(user)]).toEqual([['2'], bodiesOf('1')]);
  });
});

describe('two listeners on one state folder', () => {
  it('share waiting.db, and all of it is in the ledger once', async () => {
    const user = new User(TICK);
    const target = await Target.start();
    const listeners = [
      await Listener.start(user, ['--forward-to', target.url]),
      await Listener.start(user, ['--forward-to', target.url]),
    ];
    const ids = Array.from({ length: 200 }, (_, at) => String(at));
    const lock = lockLedger(user);
    const answers = await Promise.all(ids.map((id, at) => listeners[at % 2]?.post(complete(id))));
    expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([200]));
    expect(waitingIn(user)).toHaveLength(200);
    lock.release();
    await listeners[0]?.until(() => target.got.length === ids.length);
    await Promise.all(listeners.map((listener) => listener.stop()));
    expect(keptIn(user).sort()).toEqual([...ids].sort());
    expect([waitingIn(user), target.got.length]).toEqual([[], ids.length]);
  });

  it('move what the other has left as soon as it is gone', async () => {
    const user = new User(TICK);
    const [first, second] = [await Listener.start(user), await Listener.start(user, ['--json'])];
    const lock = lockLedger(user);
    await first.post(complete('1'));
    await second.post(complete('2'));
    await first.stop('SIGKILL');
    lock.release();
    await second.until(() => keptIn(user).length === 2);
    await second.until(() => second.json.length === 2);
    await second.stop();
    expect(second.json.map(({ audiofile }) => audiofile).sort()).toEqual(['1', '2']);
    expect([keptIn(user).sort(), waitingIn(user)]).toEqual([['1', '2'], []]);
  });
});

it('a listener that was taken for dead loses nothing, and each event is there and shown once', async () => {
  const { user } = await account({ STENO_TEST_TICK_MS: '600000' });
  const listener = await Listener.start(user, ['--json']);
  const lock = lockLedger(user);
  await listener.post(complete('1'));
  await listener.post(complete('2'));
  listener.child.kill('SIGSTOP');
  queryWaiting(user, "UPDATE waiting SET pid = 4194305, start = '1' RETURNING n");
  lock.release();
  await user.run(['sync']);
  expect([keptIn(user), waitingIn(user)]).toEqual([['1', '2'], []]);
  listener.child.kill('SIGCONT');
  expect((await listener.post(complete('3'))).status).toBe(200);
  await listener.until(() => keptIn(user).length === 3);
  await listener.stop();
  const next = await user.run(['listen', '--port', '0', '--quiet', '--timeout', '2s']);
  const shown = [...listener.json.map(({ audiofile }) => String(audiofile)), ...next.stdout.split('\n')];
  expect(shown.filter(Boolean).sort()).toEqual(['1', '2', '3']);
  expect(keptIn(user)).toEqual(['1', '2', '3']);
  expect(queryLedger(user, 'SELECT count(DISTINCT arrival) AS n FROM events')).toEqual([{ n: 3 }]);
});

describe('waiting.db that can not be used', () => {
  const isRoot = process.getuid?.() === 0;
  const unusable: Array<[what: string, make: (path: string) => void]> = [
    ['a folder', (path) => mkdirSync(path)],
    ['a pipe', (path) => void execFileSync('mkfifo', [path])],
    ['a file of text', (path) => writeFileSync(path, 'x')],
  ];

  it.skipIf(process.platform === 'win32').each(unusable)(
    'is said once, and holds up nothing that the ledger takes: %s',
    async (_, make) => {
      const user = new User(TICK);
      await leaveBehind(user, []);
      make(waitingOf(user));
      const listener = await Listener.start(user);
      expect((await listener.post(complete('2'))).status).toBe(200);
      expect(keptIn(user)).toEqual(['2']);
      const listed = await user.run(['events', '--json']);
      expect([listed.code, JSON.parse(listed.stdout)]).toMatchObject([0, [{ n: 1, audiofile: '2' }]]);
      expect(listed.stderr).toContain(
        `can't open ${waitingOf(user)}, which may contain events and outcomes that are not in the ledger yet: `,
      );
      const { stderr } = await listener.stop();
      expect(stderr.split('which may contain events and outcomes')).toHaveLength(2);
      expect(stderr).toMatch(/^hint: make it readable and writable/m);
    },
  );

  it.runIf(isRoot)('is said, and holds up nothing: one of another user', async () => {
    const user = new User(TICK);
    await leaveBehind(user, ['1']);
    await user.run(['events']);
    execFileSync('chown', ['-R', '65534:65534', user.home]);
    for (const end of ['', '-wal', '-shm'])
      if (existsSync(waitingOf(user) + end)) execFileSync('chown', ['0:0', waitingOf(user) + end]);
    const [uid, gid] = [65_534, 65_534];
    const run = (...args: string[]): Promise<Result> =>
      finished(spawn(process.execPath, [BIN, ...args], { cwd: '/', env: user.env, uid, gid, stdio: 'pipe' }));
    const listed = await run('events', '--json');
    expect([listed.code, JSON.parse(listed.stdout)]).toEqual([0, []]);
    expect(listed.stderr).toContain(
      `can't open ${waitingOf(user)}, which may contain events and outcomes that are not in the ledger yet: `,
    );
    expect((await run('listen', '--port', '0', '--timeout', '1s')).code).toBe(6);
  });
});
