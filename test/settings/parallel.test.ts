/** Settings that several processes change at once, and processes that are killed while they write. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { listing } from '../support/files.ts';
import { longOnly } from '../support/slices.ts';
import { BIN, finished, KEY, type Result, User } from '../support/steno.ts';

interface Place {
  readonly user: User;
  readonly folder: string;
  readonly path: string;
  readonly lock: string;
  profiles(): Record<string, Record<string, string>>;
}

function place(): Place {
  const user = new User();
  const folder = join(user.home, 'config');
  const path = join(folder, 'config.json');
  mkdirSync(folder);
  return {
    user,
    folder,
    path,
    lock: `${path}.lock`,
    profiles: () => JSON.parse(readFileSync(path, 'utf8')).profiles,
  };
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

const failures = (results: readonly Result[]): string[] =>
  results.filter(({ code }) => code !== 0).map(({ stderr }) => stderr);

/** Runs the program with a piece of code of its own before it: `during` runs when a file is synced to disk. */
function whileWriting(user: User, during: string): Record<string, string> {
  const preload = join(user.home, 'preload.cjs');
  writeFileSync(
    preload,
    `const fs = require('node:fs');
const sync = fs.fsyncSync;
fs.fsyncSync = (fd) => { sync(fd); ${during} };`,
  );
  return { NODE_OPTIONS: `--require ${preload}` };
}

const KILL = "process.kill(process.pid, 'SIGKILL'); for (;;);";

/** The id of a process that has ended. */
const deadPid = (): number => spawnSync(process.execPath, ['--version']).pid;

const parents: ChildProcess[] = [];
afterAll(() => {
  for (const parent of parents) parent.kill();
});

/** The id of a process that has ended, whose parent never asks how. */
async function zombiePid(): Promise<number> {
  const parent = spawn('sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  parents.push(parent);
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  await sleep(500);
  return Number(line.toString());
}

describe.concurrent('settings that are changed at once', () => {
  it('are all kept: eight logins', async () => {
    const { user, folder, profiles } = place();
    const results = await Promise.all(
      numbers(8).map((n) => user.run(['login', '--no-verify', '--profile', `p${n}`], { stdin: `key-${n}` })),
    );
    expect(failures(results)).toEqual([]);
    expect(profiles()).toEqual(
      Object.fromEntries(numbers(8).map((n) => [`p${n}`, { 'api-key': `key-${n}` }])),
    );
    expect(listing(folder)).toEqual(['config.json']);
  });

  it('are all kept: config set, config unset, login and logout', async () => {
    const { user, folder, path, profiles } = place();
    const before = { one: { 'api-key-command': 'pass' }, two: { timeout: '9s' }, three: { 'api-key': KEY } };
    writeFileSync(path, JSON.stringify({ profiles: before }), { mode: 0o600 });
    const results = await Promise.all(
      [
        ['config', 'set', 'base-url', 'https://one/API4', '--profile', 'one'],
        ['config', 'set', 'timeout', '1s', '--profile', 'one'],
        ['config', 'set', 'api-key', 'key-one', '--profile', 'one'],
        ['config', 'set', 'base-url', 'https://two/API4', '--profile', 'two'],
        ['config', 'set', 'api-key-command', 'pass two', '--profile', 'two'],
        ['config', 'unset', 'timeout', '--profile', 'two'],
        ['logout', '--profile', 'three'],
        ['login', '--no-verify', '--base-url', 'https://four/API4', '--profile', 'four'],
      ].map((line) => user.run(line, { stdin: 'key-four' })),
    );
    expect(failures(results)).toEqual([]);
    expect(profiles()).toEqual({
      one: { 'base-url': 'https://one/API4', timeout: '1s', 'api-key': 'key-one' },
      two: { 'base-url': 'https://two/API4', 'api-key-command': 'pass two' },
      three: {},
      four: { 'base-url': 'https://four/API4', 'api-key': 'key-four' },
    });
    expect(listing(folder)).toEqual(['config.json']);
  });

  it('are all kept where others of them are killed, and no lock that is left holds up the next', async () => {
    const { user, profiles } = place();
    const kill = whileWriting(user, KILL);
    const results = await Promise.all(
      numbers(12).map((n) =>
        user.run(['login', '--no-verify', '--profile', `p${n}`], {
          stdin: KEY,
          env: n % 3 === 0 ? kill : {},
        }),
      ),
    );
    const killed = numbers(12).filter((n) => n % 3 === 0);
    expect(results.map(({ code }) => code)).toEqual(numbers(12).map((n) => (killed.includes(n) ? null : 0)));
    const kept = Object.keys(profiles());
    expect(numbers(12).filter((n) => !killed.includes(n) && !kept.includes(`p${n}`))).toEqual([]);
  });
});

describe.concurrent('a process that is killed while it writes settings', () => {
  it('leaves a temporary file with the key, which the next command that reads them removes', async () => {
    const { user, folder, path } = place();
    writeFileSync(path, '{"profiles":{}}');
    await user.run(['login', '--no-verify'], { stdin: KEY, env: whileWriting(user, KILL) });
    const left = listing(folder).filter((name) => name.includes('.tmp-'));
    expect(left).toHaveLength(1);
    expect(readFileSync(join(folder, left[0] ?? ''), 'utf8')).toContain(KEY);
    expect(statSync(join(folder, left[0] ?? '')).mode & 0o777).toBe(0o600);
    const whoami = await user.run(['whoami']);
    expect([whoami.code, listing(folder)]).toEqual([3, ['config.json']]);
  });

  longOnly(
    'at any time, twenty times, leaves a config that holds and nothing else for long',
    async () => {
      const { user, folder, path, profiles } = place();
      await user.run(['login', '--no-verify', '--profile', 'first'], { stdin: KEY });
      // Nearly all of the time goes into starting: the kills are spread over what comes after it.
      const began = Date.now();
      await user.run(['login', '--no-verify'], { stdin: KEY });
      const whole = Date.now() - began;
      for (const n of numbers(20)) {
        const child = user.start(['login', '--no-verify', '--profile', `p${n}`]);
        child.stdin.on('error', () => {});
        child.stdin.end(KEY);
        const ended = finished(child);
        await sleep(whole * (0.5 + n / 40));
        child.kill('SIGKILL');
        await ended;
        expect(() => profiles()).not.toThrow();
      }
      // A lock may be empty: its process was killed before it could write its name into it.
      await sleep(2500);
      const whoami = await user.run(['whoami', '--profile', 'first']);
      expect([whoami.code, listing(folder)]).toEqual([0, ['config.json']]);
      expect(profiles().first).toEqual({ 'api-key': KEY });
      expect(readFileSync(path, 'utf8')).toContain(KEY);
    },
    120_000,
  );

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'])('by %s leaves nothing', async (signal) => {
    const { user, folder, profiles } = place();
    const env = whileWriting(user, `process.kill(process.pid, '${signal}');`);
    await user.run(['login', '--no-verify'], { stdin: KEY, env });
    expect(listing(folder)).toEqual(['config.json']);
    expect(profiles()).toEqual({ default: { 'api-key': KEY } });
  });

  it('is not taken for ended while it runs: its temporary file stays', async () => {
    const { user, folder, path, lock } = place();
    writeFileSync(path, '{"profiles":{}}');
    writeFileSync(lock, JSON.stringify({ pid: process.pid, host: hostname() }));
    const temporary = `${path}.tmp-1234567890abcdef`;
    writeFileSync(temporary, KEY);
    await user.run(['whoami']);
    expect(existsSync(temporary)).toBe(true);
    rmSync(lock);
    for (const name of ['notes.tmp-1234567890abcdef', 'config.json.tmp-mine', 'config.json.bak'])
      writeFileSync(join(folder, name), '');
    await user.run(['whoami']);
    expect(listing(folder)).toEqual([
      'config.json',
      'config.json.bak',
      'config.json.tmp-mine',
      'notes.tmp-1234567890abcdef',
    ]);
  });
});

describe.concurrent('the lock of the settings', () => {
  it('is waited for while its process runs', async () => {
    const { user, path, lock, profiles } = place();
    writeFileSync(lock, JSON.stringify({ pid: process.pid, host: hostname() }));
    const login = user.run(['login', '--no-verify'], { stdin: KEY });
    await sleep(2000);
    expect(existsSync(path)).toBe(false);
    rmSync(lock);
    expect([(await login).code, profiles()]).toEqual([0, { default: { 'api-key': KEY } }]);
  });

  const left: ReadonlyArray<readonly [string, () => string | Promise<string>, number]> = [
    ['of a process that has ended', () => JSON.stringify({ pid: deadPid(), host: hostname() }), 0],
    [
      'of a process that has ended and waits for its parent',
      async () => JSON.stringify({ pid: await zombiePid(), host: hostname() }),
      0,
    ],
    ['of another machine, when it is old', () => JSON.stringify({ pid: 1, host: 'elsewhere.example' }), 60],
    ['of a process whose id another one has now', () => JSON.stringify({ pid: 1, host: hostname() }), 60],
    ['with nothing in it, when it is some seconds old', () => '', 3],
    ['from the future, since the clock was set back', () => '', -3600],
  ];

  it.each(left)('%s is removed by a reader and taken over by a writer', async (_, text, age) => {
    const { user, folder, lock } = place();
    writeFileSync(lock, await text());
    const when = Date.now() / 1000 - age;
    utimesSync(lock, when, when);
    await user.run(['whoami']);
    expect(listing(folder)).toEqual([]);
    writeFileSync(lock, await text());
    utimesSync(lock, when, when);
    const { code, stderr } = await user.run(['login', '--no-verify'], { stdin: KEY });
    expect([code, listing(folder)], stderr).toEqual([0, ['config.json']]);
  });

  it('that is empty is left for a moment: its process may be about to write its name', async () => {
    const { user, folder, lock } = place();
    writeFileSync(lock, '');
    // A little ahead, in case that the command takes long to start.
    utimesSync(lock, Date.now() / 1000 + 1.5, Date.now() / 1000 + 1.5);
    await user.run(['whoami']);
    expect(listing(folder)).toEqual(['config.json.lock']);
  });

  it('is removed with the guard of a process that was killed meanwhile, but not with that of another', async () => {
    const { user, folder, lock } = place();
    const guard = `${lock}.removal`;
    writeFileSync(guard, JSON.stringify({ pid: process.pid, host: hostname() }));
    await user.run(['whoami']);
    expect(listing(folder)).toEqual(['config.json.lock.removal']);
    for (const file of [lock, guard])
      writeFileSync(file, JSON.stringify({ pid: deadPid(), host: hostname() }));
    await user.run(['whoami']);
    expect(listing(folder)).toEqual([]);
  });

  longOnly('that others hold on and on ends the command with 1, and SIGTERM ends the wait', async () => {
    const { user, path, lock } = place();
    const hold = setInterval(() => writeFileSync(lock, JSON.stringify({ pid: 1, host: 'elsewhere' })), 1000);
    writeFileSync(lock, JSON.stringify({ pid: 1, host: 'elsewhere' }));
    const other = user.start(['config', 'set', 'timeout', '5s']);
    const interrupted = finished(other);
    const waiting = user.run(['config', 'set', 'timeout', '5s']);
    await sleep(3000);
    other.kill('SIGTERM');
    expect((await interrupted).code).toBe(143);
    const { code, stderr } = await waiting;
    clearInterval(hold);
    expect([code, existsSync(path)]).toEqual([1, false]);
    expect(stderr).toMatch(/^steno: another process has held the lock \S+ for 15 seconds\nhint: [^\n]+\n$/);
    expect(stderr).toContain(lock);
  });
});

describe.concurrent('the config file', () => {
  it.each([
    ['a file', '{"profiles":{"old":{}}}'],
    ['nothing yet', undefined],
  ])('that is a link to %s stays one, and no temporary file stays beside its target', async (_, before) => {
    const { user, folder, path } = place();
    const dotfiles = join(user.home, 'dotfiles');
    mkdirSync(dotfiles);
    const target = join(dotfiles, 'steno.json');
    if (before !== undefined) writeFileSync(target, before);
    symlinkSync('../dotfiles/steno.json', path);
    await user.run(['login', '--no-verify', '--profile', 'gone'], {
      stdin: KEY,
      env: whileWriting(user, KILL),
    });
    expect(listing(dotfiles).some((name) => name.includes('.tmp-'))).toBe(true);
    const { code, stderr } = await user.run(['login', '--no-verify', '--profile', 'new'], { stdin: KEY });
    expect(code, stderr).toBe(0);
    expect([listing(folder), listing(dotfiles)]).toEqual([['config.json'], ['steno.json']]);
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(target, 'utf8')).profiles).toMatchObject({ new: { 'api-key': KEY } });
    expect((await user.run(['whoami', '--profile', 'new'])).code).toBe(0);
  });

  it('that is a link into a folder that is missing is not replaced', async () => {
    const { user, path } = place();
    symlinkSync('../missing/steno.json', path);
    const { code, stderr } = await user.run(['login', '--no-verify'], { stdin: KEY });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`can't write the config file ${path}`)]);
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
  });

  it("in a folder that can't be written to is said to be so", async () => {
    const { user, folder, path } = place();
    writeFileSync(path, '{"profiles":{"default":{"api-key":"some-key"}}}', { mode: 0o600 });
    const nobody = process.getuid?.() === 0 ? 65_534 : undefined;
    if (nobody !== undefined) for (const each of [user.home, folder, path]) chownSync(each, nobody, nobody);
    chmodSync(folder, 0o500);
    const run = (...args: string[]): Promise<Result> => {
      const options = { cwd: '/', env: user.env, uid: nobody, stdio: 'pipe' } as const;
      return finished(spawn(process.execPath, [BIN, ...args], options));
    };
    expect((await run('whoami')).code).toBe(0);
    const { code, stderr } = await run('config', 'set', 'timeout', '5s');
    chmodSync(folder, 0o700);
    expect([code, stderr]).toEqual([
      1,
      `steno: can't write the config file ${path}: its folder is not writable (EACCES)\nhint: make the folder writable, or name another one with STENO_CONFIG_DIR\n`,
    ]);
  });

  it('is replaced as a whole also in a terminal inside a snap', async () => {
    const { user, path } = place();
    writeFileSync(path, '{"profiles":{}}');
    const before = statSync(path).ino;
    const { code } = await user.run(['config', 'set', 'timeout', '5s'], { env: { SNAP: '/snap/code/1' } });
    expect([code, statSync(path).ino === before]).toEqual([0, false]);
  });
});
