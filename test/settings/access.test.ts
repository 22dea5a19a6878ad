/** A config file that others can read or write is refused where it matters, with the command that mends it. */
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BIN, finished, KEY, type Result, User } from '../support/steno.ts';

const withKey = { profiles: { default: { 'api-key': KEY, 'base-url': 'https://h/API4' } } };
const withCommand = { profiles: { default: { 'api-key-command': 'echo ran >> ran; echo some-key' } } };
const withoutKey = { profiles: { default: { 'base-url': 'https://h/API4', timeout: '5s' } } };

function withConfig(config: object, mode: number, name = 'config'): { user: User; path: string } {
  const user = new User();
  user.env.STENO_CONFIG_DIR = join(user.home, name);
  const path = join(user.home, name, 'config.json');
  mkdirSync(join(user.home, name));
  writeFileSync(path, JSON.stringify(config));
  chmodSync(path, mode);
  return { user, path };
}

const refusal = ({ code, stdout, stderr }: Result): unknown[] => [code, stdout, stderr];
const runs = [['config', 'list'], ['whoami'], ['login', '--no-verify'], ['config', 'set', 'timeout', '9s']];

describe('a config file', () => {
  it.each([0o644, 0o640, 0o604])('with a key that others may read is refused: mode %o', async (mode) => {
    const { user, path } = withConfig(withKey, mode);
    const message = `steno: the config file ${path} contains a key, but other users can read it (mode 0${mode.toString(8)})`;
    for (const args of runs)
      expect(refusal(await user.run(args, { stdin: KEY }))).toEqual([
        2,
        '',
        `${message}\nhint: run: chmod 600 ${path}\n`,
      ]);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(withKey);
    chmodSync(path, 0o600);
    expect((await user.run(['config', 'list'])).code).toBe(0);
  });

  it.each([0o620, 0o602, 0o666])('that others may write is refused: mode %o', async (mode) => {
    for (const config of [withKey, withCommand, withoutKey]) {
      const { user, path } = withConfig(config, mode);
      for (const args of runs)
        expect(refusal(await user.run(args, { stdin: KEY }))).toEqual([
          2,
          '',
          `steno: other users can write to the config file ${path} (mode 0${mode.toString(8)})\n` +
            `hint: check that nobody added anything to it, then run: chmod 600 ${path}\n`,
        ]);
    }
  });

  it('without a key may be read by others', async () => {
    for (const config of [withoutKey, withCommand]) {
      const { user } = withConfig(config, 0o644);
      expect((await user.run(['config', 'list'])).code).toBe(0);
    }
  });

  it('behind a link is judged by what the link leads to', async () => {
    const { user, path } = withConfig(withKey, 0o644);
    const folder = join(user.home, 'linked');
    mkdirSync(folder);
    symlinkSync(path, join(folder, 'config.json'));
    const { code, stderr } = await user.run(['config', 'list'], { env: { STENO_CONFIG_DIR: folder } });
    expect([code, stderr]).toEqual([2, expect.stringContaining('other users can read it')]);
  });

  it('is named so that the command can be copied', async () => {
    const { user, path } = withConfig(withKey, 0o644, "it's here");
    const { stderr } = await user.run(['config', 'list']);
    const command = /chmod 600 .*$/m.exec(stderr)?.[0] ?? '';
    expect(command).toBe(`chmod 600 '${path.replace("'", "'\\''")}'`);
    const fixed = await finished(spawn('sh', ['-c', command], { stdio: 'pipe' }));
    expect([fixed.code, (await user.run(['config', 'list'])).code]).toEqual([0, 0]);
  });

  it('can still be asked for its path', async () => {
    const { user, path } = withConfig(withKey, 0o666);
    expect(refusal(await user.run(['config', 'path']))).toEqual([0, `${path}\n`, '']);
  });
});

describe.runIf(process.getuid?.() === 0)('a config file of another user', () => {
  const [US, OTHER] = [65_534, 12_345];
  const runAs = (uid: number, user: User, ...args: string[]): Promise<Result> => {
    chmodSync(user.home, 0o755);
    chmodSync(join(user.home, 'config'), 0o755);
    return finished(
      spawn(process.execPath, [BIN, ...args], { cwd: '/', env: user.env, uid, gid: uid, stdio: 'pipe' }),
    );
  };

  it('is refused, whoever runs it, and its command is not run', async () => {
    for (const us of [US, 0]) {
      const { user, path } = withConfig(withCommand, 0o644);
      chownSync(path, OTHER, OTHER);
      const hint = `check what is in it, then run: sudo chown ${us} ${path} && chmod 600 ${path}`;
      expect(refusal(await runAs(us, user, 'whoami'))).toEqual([
        2,
        '',
        `steno: the config file ${path} belongs to another user (user id ${OTHER})\nhint: ${hint}\n`,
      ]);
    }
  });

  it('is read if that user is root and lets us, key and all, but not if others can write it', async () => {
    const { user, path } = withConfig(withKey, 0o644);
    const { code, stdout } = await runAs(US, user, 'whoami');
    expect([code, stdout]).toEqual([0, expect.stringContaining('api-key\t****6789\tprofile default')]);
    chmodSync(path, 0o646);
    expect((await runAs(US, user, 'whoami')).code).toBe(2);
  });
});

it.skipIf(process.getuid === undefined)(
  'a config folder with a key that any user may write to is refused',
  async () => {
    const { user } = withConfig(withKey, 0o600);
    const folder = join(user.home, 'config');
    chmodSync(folder, 0o777);
    const { code, stderr } = await user.run(['config', 'list']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`other users can write to the config folder ${folder} (mode 0777)`),
    ]);
    expect(stderr).toContain(`chmod 700 ${folder}`);
    // In a folder like /tmp only the owner of a file may replace it.
    chmodSync(folder, 0o1777);
    expect((await user.run(['config', 'list'])).code).toBe(0);
  },
);
