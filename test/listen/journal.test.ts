/** What a listener receives is first in a journal of its own, and is moved from there into the ledger once. */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { arrivalsIn, journalFiles, journalFolder, keptIn, lockLedger } from '../support/journal.ts';
import { queryLedger } from '../support/ledger.ts';
import { complete, eventsOf, form, Listener, Target } from '../support/listener.ts';
import { signed } from '../support/signed.ts';
import { BIN, finished, KEY, type Result, User } from '../support/steno.ts';
import { hasStrace, isSync, startTraced } from '../support/strace.ts';
import { until } from '../support/until.ts';

const TICK = { STENO_TEST_TICK_MS: '50' };

/** A listener that has answered these and is killed before any is in the ledger. */
async function leaveBehind(user: User, ids: readonly string[], args: readonly string[] = []): Promise<void> {
  const listener = await Listener.start(user, args);
  const lock = lockLedger(user);
  for (const id of ids) expect((await listener.post(complete(id))).status).toBe(200);
  await listener.stop('SIGKILL');
  lock.release();
}

const pathOf = (user: User): string => join(journalFolder(user), journalFiles(user)[0] ?? '');

const ran = (user: User): string[] => {
  const path = join(user.home, 'ran');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
};

describe('the journal', () => {
  it('is for the owner alone, and holds neither the key nor a signature', async () => {
    const { user } = await account();
    const listener = await Listener.start(user);
    const lock = lockLedger(user);
    const link = signed('https://example.com/a.mp3');
    const fields = { event: 'TRANSCRIPT_COMPLETE', audiofile: '7', originallink: link, note: KEY };
    expect((await listener.post(form(fields))).status).toBe(200);
    const path = pathOf(user);
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
    expect((statSync(journalFolder(user)).mode & 0o777).toString(8)).toBe('700');
    const text = readFileSync(path, 'latin1');
    expect(text).toContain('audiofile=7');
    expect(text).not.toMatch(/c0ffee5ec7e7|very.*secret/);
    lock.release();
    await listener.stop();
  });

  it('is empty when all is in the ledger, and gone after the end', async () => {
    const user = new User();
    const listener = await Listener.start(user);
    const empty = statSync(pathOf(user)).size;
    for (const id of ['1', '2']) await listener.post(complete(id));
    await listener.until(() => keptIn(user).length === 2 && statSync(pathOf(user)).size === empty);
    await listener.stop();
    expect(journalFiles(user)).toEqual([]);
  });

  it('outlives Ctrl-C while the ledger is locked: a line says so, and the next listener moves it', async () => {
    const user = new User(TICK);
    const listener = await Listener.start(user);
    const lock = lockLedger(user);
    await listener.post(complete('1'));
    const { code, stderr } = await listener.stop();
    expect(code).toBe(130);
    expect(stderr).toMatch(/^warning: 1 event not in the ledger yet: kept in .*journal.*\.log$/m);
    expect(stderr).toMatch(/^hint: the next steno listen or steno sync moves them there$/m);
    expect(await eventsOf(user)).toMatchObject([{ n: null, audiofile: '1', source: 'received' }]);
    lock.release();
    const next = await Listener.start(user);
    await next.until(() => /^1 event of listeners that broke off is in the ledger now$/m.test(next.stderr));
    expect(keptIn(user)).toEqual(['1']);
    expect(journalFiles(user)).toHaveLength(1);
    await next.stop();
  });

  it.skipIf(!hasStrace)('is synced before the 200 is sent', async () => {
    const user = new User();
    const traced = startTraced(
      user,
      ['listen', '--port', '0', '--count', '1'],
      'write,writev,pwrite64,fdatasync',
    );
    await until(() => /^listening on /m.test(traced.stderr), 'it listens');
    const url = /^listening on (\S+)$/m.exec(traced.stderr)?.[1] ?? '';
    expect((await fetch(url, { method: 'POST', body: new URLSearchParams(complete('1')) })).status).toBe(200);
    const { calls } = await traced.ended();
    const journal = calls.filter(({ target }) => /\/journal\/default-\w+\.log/.test(target));
    const written = journal.find(({ name, text }) => name === 'pwrite64' && /x-www-form/.test(text));
    const synced = journal.find((call) => isSync(call) && call.begun > (written?.ended ?? Infinity));
    const answered = calls.find(({ text }) => /HTTP\/1\.1 200/.test(text));
    const order = [written?.ended, synced?.begun, synced?.ended, answered?.begun];
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
    expect(stdout).toMatch(/2 on the way into the ledger; each gets its number there/);
    // Looking moves nothing.
    expect([keptIn(user), arrivalsIn(user).length]).toEqual([[], 2]);
  });

  it('is acted on once, by the next listener with the same command', async () => {
    const user = new User(TICK);
    const exec = ['--exec', 'echo "$STENO_EVENT_AUDIOFILE" >> ran'];
    await leaveBehind(user, ['1', '2'], exec);
    const other = await Listener.start(user, ['--exec', 'touch other', '--json']);
    await other.until(() => keptIn(user).join() === '1,2');
    await other.post(complete('3'));
    await other.until(() => existsSync(join(user.home, 'other')));
    await other.stop();
    expect(other.json.map(({ audiofile }) => audiofile)).toEqual(['3']);
    expect(ran(user)).toEqual([]);
    const same = await Listener.start(user, exec);
    await same.until(() => ran(user).length === 2);
    await same.stop();
    expect(ran(user).sort()).toEqual(['1', '2']);
    expect(keptIn(user)).toEqual(['1', '2', '3']);
  });

  it('is moved by sync too, which cron can run', async () => {
    const { user } = await account();
    await leaveBehind(user, ['1', '2', '3']);
    const { code, stderr } = await user.run(['sync']);
    expect([code, keptIn(user), journalFiles(user)]).toEqual([0, ['1', '2', '3'], []]);
    expect(stderr).toMatch(/^3 events of listeners that broke off are in the ledger now$/m);
    expect((await user.run(['sync'])).stderr).not.toMatch(/broke off/);
    expect(keptIn(user)).toHaveLength(3);
  });

  it('stays for its own profile', async () => {
    const { user, service } = await account();
    await user.run(['config', 'set', 'base-url', service.baseUrl, '--profile', 'other']);
    await leaveBehind(user, ['1'], ['--profile', 'other']);
    await user.run(['sync']);
    expect([keptIn(user), await eventsOf(user)]).toEqual([[], []]);
    expect(arrivalsIn(user, 'other')).toHaveLength(1);
    const next = await Listener.start(user, ['--profile', 'other']);
    await next.until(() => keptIn(user).join() === '1');
    await next.stop();
    expect(await eventsOf(user, '--profile', 'other')).toMatchObject([{ n: 1 }]);
  });

  it('is moved as far as it can be read; the damaged file is kept, and a line says so', async () => {
    const user = new User(TICK);
    await leaveBehind(user, ['1', '2', '3']);
    const bytes = readFileSync(pathOf(user));
    bytes[bytes.indexOf('audiofile=2')] = 0;
    writeFileSync(pathOf(user), Buffer.concat([bytes, Buffer.alloc(100)]));
    const next = await Listener.start(user);
    await next.until(() => /bytes of a journal are damaged, and events may be lost/.test(next.stderr));
    expect(keptIn(user)).toEqual(['1', '3']);
    await next.stop();
    expect(journalFiles(user)).toEqual([expect.stringMatching(/\.damaged$/)]);
    const after = await Listener.start(user);
    await after.stop();
    expect(after.stderr).not.toMatch(/damaged/);
  });

  it('is moved by a listener that runs where the beginning of the file is damaged', async () => {
    const user = new User(TICK);
    await leaveBehind(user, ['1', '2']);
    const path = pathOf(user);
    const bytes = readFileSync(path);
    const next = await Listener.start(user);
    await next.until(() => keptIn(user).length === 2);
    queryLedger(user, 'DELETE FROM events RETURNING id');
    writeFileSync(path, bytes.fill('Z', 0, 20));
    const at = new Date(Date.now() - 15_000);
    utimesSync(path, at, at);
    await next.until(() => keptIn(user).length === 2, 10_000);
    await next.stop();
    expect(journalFiles(user)).toEqual([expect.stringMatching(/\.damaged$/)]);
  });

  it('is left alone where a newer steno has written it', async () => {
    const user = new User();
    await leaveBehind(user, ['1', '2']);
    const path = pathOf(user);
    writeFileSync(path, withVersion(readFileSync(path), 2));
    const next = await Listener.start(user);
    await next.until(() => /stays: 1 of its records are of a newer steno/.test(next.stderr));
    await next.stop();
    expect(keptIn(user)).toEqual(['2']);
    expect(journalFiles(user)).toHaveLength(1);
  });
});

/** Gives the second record (the first delivery) another version, and the checksum that belongs to it. */
function withVersion(bytes: Buffer, version: number): Buffer {
  const marker = bytes.subarray(0, 8);
  const start = bytes.indexOf(marker, 8);
  const end = bytes.indexOf(marker, start + 8);
  bytes[start + 12] = version;
  bytes.writeUInt32LE(crc32(bytes.subarray(start + 12, end)), start + 8);
  return bytes;
}

describe('two listeners on one state folder', () => {
  it('keep apart what each has received, and all of it is in the ledger once', async () => {
    const user = new User(TICK);
    const target = await Target.start();
    const listeners = [
      await Listener.start(user, ['--forward-to', target.url]),
      await Listener.start(user, ['--forward-to', target.url]),
    ];
    const ids = Array.from({ length: 200 }, (_, at) => String(at));
    const answers = await Promise.all(ids.map((id, at) => listeners[at % 2]?.post(complete(id))));
    expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([200]));
    await listeners[0]?.until(() => target.got.length === ids.length);
    expect(journalFiles(user)).toHaveLength(2);
    await Promise.all(listeners.map((listener) => listener.stop()));
    expect(keptIn(user).sort()).toEqual([...ids].sort());
    expect(journalFiles(user)).toEqual([]);
  });

  it('move what the other has left as soon as it is gone', async () => {
    const user = new User(TICK);
    const [first, second] = [await Listener.start(user), await Listener.start(user)];
    const lock = lockLedger(user);
    await first.post(complete('1'));
    await second.post(complete('2'));
    await first.stop('SIGKILL');
    lock.release();
    await second.until(() => keptIn(user).length === 2);
    expect(keptIn(user).sort()).toEqual(['1', '2']);
    await second.until(() => journalFiles(user).length === 1);
    await second.stop();
  });
});

it('a listener that was taken for dead loses nothing, and nothing of it is there twice', async () => {
  const { user } = await account({ STENO_TEST_TICK_MS: '600000' });
  const listener = await Listener.start(user, ['--json']);
  const lock = lockLedger(user);
  await listener.post(complete('1'));
  await listener.post(complete('2'));
  listener.child.kill('SIGSTOP');
  const path = pathOf(user);
  const old = new Date(Date.now() - 3_600_000);
  utimesSync(path, old, old);
  lock.release();
  await user.run(['sync']);
  expect([keptIn(user), journalFiles(user)]).toEqual([['1', '2'], []]);
  listener.child.kill('SIGCONT');
  expect((await listener.post(complete('3'))).status).toBe(200);
  await listener.until(() => keptIn(user).length === 3);
  await listener.until(() => listener.lines.length === 3);
  await listener.stop();
  expect(keptIn(user)).toEqual(['1', '2', '3']);
  expect(queryLedger(user, 'SELECT count(DISTINCT arrival) AS n FROM events')).toEqual([{ n: 3 }]);
  expect(journalFiles(user)).toEqual([]);
});

describe('an entry of the folder that can not be used', () => {
  const isRoot = process.getuid?.() === 0;
  const unusable: Array<[what: string, make: (path: string) => void]> = [
    ['a folder', (path) => mkdirSync(path)],
    ['a pipe', (path) => void execFileSync('mkfifo', [path])],
    ['a link to nothing', (path) => symlinkSync('nothing', path)],
    ...(isRoot ? [] : [['a file of others', lockedFile] as [string, (path: string) => void]]),
  ];

  function lockedFile(path: string): void {
    writeFileSync(path, 'x');
    chmodSync(path, 0);
  }

  it.skipIf(process.platform === 'win32').each(unusable)(
    'is said once, and holds up no other: %s',
    async (_, make) => {
      const user = new User(TICK);
      await leaveBehind(user, ['1']);
      const path = join(journalFolder(user), 'default-0000000000000000.log');
      make(path);
      const listed = await user.run(['events', '--json']);
      expect(JSON.parse(listed.stdout)).toMatchObject([{ n: null, audiofile: '1' }]);
      expect(listed.code).toBe(0);
      expect(listed.stderr).toContain(`events may wait in ${path}, which can't be used: `);
      const listener = await Listener.start(user);
      await listener.until(() => keptIn(user).length === 1);
      await listener.post(complete('2'));
      await listener.until(() => keptIn(user).length === 2);
      const { stderr } = await listener.stop();
      expect(stderr.split('events may wait in ')).toHaveLength(2);
      expect(stderr).toMatch(/^hint: make it a file that you may read and write/m);
      expect(journalFiles(user)).toEqual(['default-0000000000000000.log']);
    },
  );

  it.runIf(isRoot)('is said once, and holds up no other: a file of another user', async () => {
    const user = new User(TICK);
    await leaveBehind(user, ['1']);
    execFileSync('chown', ['-R', '65534:65534', user.home]);
    const path = join(journalFolder(user), 'default-0000000000000000.log');
    writeFileSync(path, 'x', { mode: 0o600 });
    const [uid, gid] = [65_534, 65_534];
    const run = (...args: string[]): Promise<Result> =>
      finished(spawn(process.execPath, [BIN, ...args], { cwd: '/', env: user.env, uid, gid, stdio: 'pipe' }));
    const listed = await run('events', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ n: null, audiofile: '1' }]);
    expect(listed.stderr).toContain(`events may wait in ${path}, which can't be used: `);
    await run('listen', '--port', '0', '--timeout', '1s');
    expect(keptIn(user)).toEqual(['1']);
  });
});
