/** Folders that can't be made: each is one plain line, and no command hangs. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../src/lib/fs.ts';
import { account } from '../support/account.ts';
import { freshFolder, modeOf } from '../support/files.ts';
import { BIN, finished, type Result, type User } from '../support/steno.ts';

/** Runs the program in a folder that is deleted before it starts. */
function runInDeletedFolder(user: User, args: readonly string[]): Promise<Result> {
  const folder = join(user.home, 'deleted');
  mkdirSync(folder);
  const script = 'cd deleted && rmdir ../deleted && exec "$@"';
  const command = ['-c', script, 'sh', process.execPath, BIN, ...args];
  return finished(
    spawn('/bin/sh', command, { cwd: user.home, env: user.env, timeout: 20_000, killSignal: 'SIGKILL' }),
  );
}

/** A hang counts as an exit without a code. */
function run(user: User, args: readonly string[], env: Record<string, string> = {}): Promise<Result> {
  const options = {
    cwd: user.home,
    env: { ...user.env, ...env },
    timeout: 20_000,
    killSignal: 'SIGKILL' as const,
  };
  return finished(spawn(process.execPath, [BIN, ...args], options));
}

describe('makeFolder', () => {
  it('makes what is missing with the mode asked for, and takes what is there', () => {
    const home = freshFolder();
    const folder = join(home, 'a', 'b', 'c');
    makeFolder(folder, 0o700);
    makeFolder(folder, 0o700);
    makeFolder(`${folder}/`);
    expect([modeOf(folder), modeOf(join(home, 'a'))]).toEqual(['700', '700']);
    symlinkSync(folder, join(home, 'link'));
    makeFolder(join(home, 'link', 'd'));
    expect(existsSync(join(folder, 'd'))).toBe(true);
    makeFolder('/');
    makeFolder('.');
  });

  it('says why a folder can not be made', () => {
    const home = freshFolder();
    writeFileSync(join(home, 'file'), '');
    symlinkSync('nowhere', join(home, 'link'));
    symlinkSync('loop', join(home, 'loop'));
    expect(() => makeFolder(join(home, 'file'))).toThrow('it is not a folder');
    expect(() => makeFolder(join(home, 'file', 'x', 'y'))).toThrow('part of its path is not a folder');
    expect(() => makeFolder(join(home, 'link'))).toThrow('it is a broken symlink');
    expect(() => makeFolder(join(home, 'loop', 'x'))).toThrow("can't create the folder");
    expect(() => makeFolder(join(home, 'x'.repeat(300), 'y'))).toThrow('the name is too long');
  });
});

describe.runIf(process.platform === 'linux')('a folder that takes none', () => {
  const IN_PROC = '/proc/1/steno';
  const inProc = "steno: can't create the folder /proc/1/steno: can't create a folder in /proc/1\n";

  it('ends a download in /proc, from whatever command', async () => {
    const { service, user } = await account();
    service.on('*', { body: 'words' });
    const refused = `${inProc}hint: choose another folder for --download\n`;
    for (const [args, ...ended] of [
      [['transcript', '5', '-o', `${IN_PROC}/`], 1, inProc],
      // What it waits for may be paid for: the folder is tried before.
      [['wait', '5', '--download', IN_PROC], 2, refused],
    ] as const) {
      const { code, stdout, stderr } = await run(user, [...args]);
      expect([code, stderr, stdout]).toEqual([...ended, '']);
    }
    expect(service.calls('POST /audiofile/5/transcript.txt')).toHaveLength(1);
  });

  it('ends a command whose state or settings would go there', async () => {
    const { service, user } = await account();
    const order = ['order', 'https://e.com/1', '--sku', 'TRANS14'];
    for (const args of [['files'], order]) {
      const { code, stderr } = await run(user, args, { STENO_STATE_DIR: IN_PROC });
      expect([code, stderr]).toEqual([1, inProc]);
    }
    const set = ['config', 'set', 'base-url', 'https://e.com/API4'];
    const { code, stderr } = await run(user, set, { STENO_CONFIG_DIR: IN_PROC });
    expect([code, stderr]).toEqual([1, inProc]);
    // What needs no state works without it.
    expect((await run(user, ['skus'], { STENO_STATE_DIR: IN_PROC })).code).toBe(0);
    expect(service.got).toEqual([]);
  });

  it('is also the current one after it was deleted', async () => {
    const { service, user } = await account();
    service.on('*', { body: 'words' });
    const { code, stderr } = await runInDeletedFolder(user, ['transcript', '5', '-o', 'a/b/']);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^steno: can't create the folder .*\n$/)]);
    const synced = await runInDeletedFolder(user, ['sync', '--download', 'a/b']);
    expect([synced.code, synced.stderr]).toEqual([
      1,
      expect.stringMatching(/^steno: the current folder was deleted\n/),
    ]);
  });

  it('may be one below a file', async () => {
    const { service, user } = await account();
    writeFileSync(join(user.home, 'file'), '');
    const { code, stderr } = await run(user, ['files'], { STENO_STATE_DIR: join(user.home, 'file', 'x') });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^steno: can't create .* part of its path is not a folder\n$/),
    ]);
    expect(service.got).toEqual([]);
  });
});
