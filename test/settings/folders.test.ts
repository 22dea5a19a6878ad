/** A folder that another user owns or may write to is refused; one of ours is closed to others. */
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configFolder, stateFolder } from '../../src/settings/paths.ts';
import { audio, orderingAccount } from '../support/ledger.ts';
import { Listener } from '../support/listener.ts';
import { BIN, finished, KEY, type Result, User } from '../support/steno.ts';

const [US, OTHER] = [65_534, 12_345];
const ORDER = ['order', audio('a'), '--sku', 'TRANS14'];

const modeOf = (path: string): number => statSync(path).mode & 0o7777;

/** A user with a state folder of this mode and owner. */
async function withState(mode: number, owner = process.getuid?.() ?? 0) {
  const made = await orderingAccount();
  const state = join(made.user.home, 'state');
  mkdirSync(state);
  chownSync(state, owner, owner);
  chmodSync(state, mode);
  return { ...made, state };
}

const runAs = (uid: number, user: User, args: readonly string[]): Promise<Result> => {
  chmodSync(user.home, 0o755);
  return finished(
    spawn(process.execPath, [BIN, ...args], { cwd: '/', env: user.env, uid, gid: uid, stdio: 'pipe' }),
  );
};

describe.runIf(process.getuid?.() === 0)('a state folder', () => {
  it.each([0, US])('of another user is refused, whoever runs it (number %i)', async (us) => {
    for (const mode of [0o777, 0o1777, 0o755, 0o700]) {
      // Only root could use the last two.
      if (us === US && !(mode & 0o002)) continue;
      const { service, user, state } = await withState(mode, OTHER);
      for (const args of [ORDER, ['listen', '--port', '0'], ['--sandbox', 'balance']]) {
        const { code, stdout, stderr } = await runAs(us, user, args);
        expect([code, stdout]).toEqual([2, '']);
        expect(stderr).toContain(
          `steno: the state folder ${state} belongs to another user (user id ${OTHER})\n`,
        );
        expect(stderr).toMatch(/^hint: name another folder with STENO_STATE_DIR, .*sudo chown/m);
      }
      expect(service.got).toEqual([]);
      expect(existsSync(join(state, 'ledger.db'))).toBe(false);
    }
  });

  it('of root that others may write to is refused by them', async () => {
    for (const mode of [0o777, 0o1777]) {
      const { user, state } = await withState(mode, 0);
      const { code, stderr } = await runAs(US, user, ORDER);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(`other users can write to the state folder ${state}`),
      ]);
      expect(modeOf(state)).toBe(mode);
    }
  });
});

describe.runIf(process.getuid)('a state folder of ours', () => {
  it.each([0o777, 0o775, 0o755, 0o750])('is closed to others: mode %o', async (mode) => {
    const { user, state } = await withState(mode);
    expect((await user.run(ORDER)).code).toBe(0);
    expect(modeOf(state)).toBe(0o700);
  });

  it('that all users share is refused, and keeps its mode', async () => {
    const { service, user, state } = await withState(0o1777);
    for (const args of [ORDER, ['listen', '--port', '0'], ['--sandbox', 'balance']]) {
      const { code, stderr } = await user.run(args);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(
          `steno: other users can write to the state folder ${state} (mode 1777)\nhint: name another folder with STENO_STATE_DIR, such as one inside it\n`,
        ),
      ]);
    }
    expect(service.got).toEqual([]);
    expect(modeOf(state)).toBe(0o1777);
    expect((await user.run(['doctor'])).stdout).toMatch(/other users can write to the state folder/);
  });

  it('is refused where it is a home folder that others may write to', async () => {
    const { user } = await orderingAccount();
    chmodSync(user.home, 0o775);
    const run = (): Promise<Result> => user.run(ORDER, { env: { STENO_STATE_DIR: user.home } });
    expect((await run()).code).toBe(2);
    expect(modeOf(user.home)).toBe(0o775);
    chmodSync(user.home, 0o755);
    expect((await run()).code).toBe(0);
    expect(modeOf(user.home)).toBe(0o755);
  });

  it.each(['ledger.db', 'ledger.db-wal', 'ledger.db-journal'])(
    'in which %s is a link to nowhere is refused, and nothing is made',
    async (name) => {
      const { service, user, state } = await withState(0o700);
      symlinkSync(join(user.home, 'elsewhere'), join(state, name));
      const { code, stderr } = await user.run(ORDER);
      expect([code, stderr]).toEqual([
        2,
        `steno: ${join(state, name)} is a broken symlink\nhint: delete it\n`,
      ]);
      expect([service.got, existsSync(join(user.home, 'elsewhere'))]).toEqual([[], false]);
    },
  );

  it.each(['sandbox.db', 'ledger.db'])('in which %s is one is refused by the sandbox', async (name) => {
    const { user, state } = await withState(0o700);
    symlinkSync(join(user.home, 'elsewhere'), join(state, name));
    const { code, stderr } = await user.run(['--sandbox', ...ORDER]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is a broken symlink')]);
    expect(existsSync(join(user.home, 'elsewhere'))).toBe(false);
  });

  it('may hold a ledger that a link leads to', async () => {
    const { user, state } = await withState(0o700);
    expect((await user.run(ORDER, { env: { STENO_STATE_DIR: join(user.home, 'real') } })).code).toBe(0);
    symlinkSync('../real/ledger.db', join(state, 'ledger.db'));
    expect((await user.run(ORDER)).code).toBe(9);
  });

  it('is closed by a listener too', async () => {
    const { user, state } = await withState(0o777);
    await (await Listener.start(user)).stop();
    expect(modeOf(state)).toBe(0o700);
  });
});

describe.runIf(process.getuid?.() === 0)('a config folder', () => {
  it('of another user is refused, to read and to write', async () => {
    const user = new User();
    const config = join(user.home, 'config');
    mkdirSync(config, { mode: 0o755 });
    chownSync(config, OTHER, OTHER);
    const message = `steno: the config folder ${config} belongs to another user (user id ${OTHER})\n`;
    const login = await user.run(['login', '--no-verify'], { stdin: KEY });
    expect([login.code, login.stderr]).toEqual([2, expect.stringContaining(message)]);
    writeFileSync(join(config, 'config.json'), '{"profiles":{"default":{"api-key-command":"touch ran"}}}');
    const read = await user.run(['whoami']);
    expect([read.code, read.stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('that all users share is not written to', async () => {
    const user = new User();
    const config = join(user.home, 'config');
    mkdirSync(config);
    chmodSync(config, 0o1777);
    const { code, stderr } = await user.run(['login', '--no-verify'], { stdin: KEY });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`other users can write to the config folder ${config}`),
    ]);
    expect(existsSync(join(config, 'config.json'))).toBe(false);
  });
});

it.each<[platform: NodeJS.Platform, env: Record<string, string>, config: string, state: string]>([
  ['linux', {}, '/home/u/.config/steno', '/home/u/.local/state/steno'],
  ['darwin', {}, '/home/u/Library/Application Support/steno', '/home/u/Library/Application Support/steno'],
  ['darwin', { XDG_CONFIG_HOME: '/x/c', XDG_STATE_HOME: '/x/s' }, '/x/c/steno', '/x/s/steno'],
  [
    'linux',
    { XDG_CONFIG_HOME: '/x/c', XDG_STATE_HOME: 'relative' },
    '/x/c/steno',
    '/home/u/.local/state/steno',
  ],
  ['darwin', { STENO_CONFIG_DIR: '/c', STENO_STATE_DIR: '/s', XDG_CONFIG_HOME: '/x' }, '/c', '/s'],
])('on %s with %j settings are in %s and state in %s', (platform, env, config, state) => {
  const home = () => '/home/u';
  expect([configFolder(env, platform, home), stateFolder(env, platform, home)]).toEqual([config, state]);
});
