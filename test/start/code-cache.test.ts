/** The code that V8 compiled is kept for the next run, and never changes what a command does. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { wrap } from 'node:module';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { ownCompiledCode } from '../support/compiled-code.ts';
import { freshFolder, listing, modeOf } from '../support/files.ts';
import { User } from '../support/steno.ts';

const folderOf = (user: User): string => join(user.home, '.cache', 'steno');
const kept = (user: User): string[] => (existsSync(folderOf(user)) ? readdirSync(folderOf(user)).sort() : []);
/** Which files there are, and when each was written. */
const written = (user: User): Array<[string, number]> =>
  kept(user).map((name) => [name, statSync(join(folderOf(user), name)).mtimeMs]);

const sizes = (user: User): number[] => kept(user).map((name) => statSync(join(folderOf(user), name)).size);

/** A user with a home of their own, as the system knows it. */
function homeowner(): User {
  const user = new User();
  ownCompiledCode(user);
  return user;
}

const EVIL = 'run by another user';

/** Compiled code of as many characters as steno.js has, which V8 takes for that of steno.js. */
function foreignCode(): Buffer {
  const { length } = wrap(readFileSync('dist/steno.js', 'utf8'));
  const evil = wrap(`process.stdout.write('${EVIL}\\n');`);
  // In a process of its own: tests of this one may have set flags, and V8 takes no code of other flags.
  const compile = `const source = ${JSON.stringify(evil)}.padEnd(${length});
    process.stdout.write(new (require('node:vm').Script)(source, { filename: 'x' }).createCachedData());`;
  return execFileSync(process.execPath, ['-e', compile]);
}

/** A user with a cache of `config path`, and where that of steno.js is. */
async function withCache(): Promise<{ user: User; path: string }> {
  const user = homeowner();
  for (let time = 0; time < 2; time += 1) await user.run(['config', 'path']);
  const name = kept(user).find((each) => each.startsWith('steno.js-config-')) ?? '';
  return { user, path: join(folderOf(user), name) };
}

describe('compiled code', () => {
  it('is kept for each command from its second run on, and taken by the next as it is', async () => {
    const { service, user } = await account();
    ownCompiledCode(user);
    service.on('*', { body: '{"balance":"1.00"}' });
    const first = await user.run(['balance']);
    expect(kept(user).map((name) => name.split('-', 2).join('-'))).toEqual(
      expect.arrayContaining(['steno.js-balance', 'undici.js-balance']),
    );
    // Nothing yet but the names: many a CI job runs a command once.
    expect(sizes(user).filter((size) => size > 0)).toEqual([]);
    await user.run(['config', 'list']);
    await user.run(['balance']);
    const after = written(user);
    expect(await user.run(['balance'])).toEqual(first);
    // Had V8 refused it, it would have been written again.
    expect(written(user)).toEqual(after);
    const isOfBalance = kept(user).map((name) => name.includes('-balance-'));
    expect(sizes(user).map((size) => size > 0)).toEqual(isOfBalance);
  });

  it('is taken also where the command changed the flags of V8', async () => {
    const { service, user } = await account();
    ownCompiledCode(user);
    service.on('*', { body: 'x'.repeat(3_000_000) });
    for (let time = 0; time < 2; time += 1) await user.run(['transcript', '1', '2', '3', '--force']);
    const after = written(user);
    expect(sizes(user).some((size) => size > 0)).toBe(true);
    const { code } = await user.run(['transcript', '1', '2', '3', '--force']);
    expect([code, written(user)]).toEqual([0, after]);
  });

  it('is kept neither for a failure nor for a word that is no command', async () => {
    const user = homeowner();
    expect((await user.run(['balance'])).code).toBe(3);
    expect((await user.run(['blance'])).code).toBe(2);
    expect((await user.run(['../../escape', 'config'])).code).toBe(2);
    expect(kept(user)).toEqual([]);
  });

  it('is replaced where it is damaged, and that of another build is removed', async () => {
    const { user, path } = await withCache();
    const { stdout } = await user.run(['config', 'path']);
    for (const damage of [Buffer.from('nonsense'), Buffer.alloc(0), readFileSync(path).subarray(0, 5000)]) {
      writeFileSync(path, damage);
      writeFileSync(join(folderOf(user), 'steno.js-config-0123456789abcdef-v20.0.0-arm64'), 'old');
      const { code, stdout: again, stderr } = await user.run(['config', 'path']);
      expect([code, again, stderr]).toEqual([0, stdout, '']);
      expect(kept(user).filter((name) => name.includes('0123456789abcdef'))).toEqual([]);
      expect(statSync(path).size).toBeGreaterThan(100_000);
    }
  });

  it('that a killed process has begun to keep is removed by the next one that keeps some', async () => {
    const { user, path } = await withCache();
    const { pid } = spawnSync('true');
    copyFileSync(path, `${path}.${pid}`);
    writeFileSync(path, 'damaged');
    expect((await user.run(['config', 'path'])).code).toBe(0);
    expect(kept(user).filter((name) => /\.\d+$/.test(name))).toEqual([]);
  });

  it('is done without where its folder is no folder', async () => {
    const user = homeowner();
    mkdirSync(join(user.home, '.cache'));
    writeFileSync(folderOf(user), 'a file');
    const { code, stderr } = await user.run(['config', 'list']);
    expect([code, stderr, readFileSync(folderOf(user), 'utf8')]).toEqual([0, '', 'a file']);
  });
});

describe('compiled code of others', () => {
  it('would be run from the cache: this is what the rules below prevent', async () => {
    const { user, path } = await withCache();
    writeFileSync(path, foreignCode());
    expect((await user.run(['config', 'path'])).stdout).toBe(`${EVIL}\n`);
  });

  it('is not run from the state folder, whatever lies there', async () => {
    const { user, path } = await withCache();
    const { stdout } = await user.run(['config', 'path']);
    for (const folder of ['code', '.cache/steno', '.']) {
      mkdirSync(join(user.home, 'state', folder), { recursive: true });
      writeFileSync(join(user.home, 'state', folder, basename(path)), foreignCode(), { mode: 0o600 });
    }
    chmodSync(join(user.home, 'state'), 0o777);
    expect((await user.run(['config', 'path'])).stdout).toBe(stdout);
  });

  it.each(['HOME', 'XDG_CACHE_HOME', 'STENO_CACHE_DIR', 'LOCALAPPDATA'])(
    'is not run from where %s leads',
    async (name) => {
      const { user, path } = await withCache();
      const elsewhere = freshFolder();
      for (const folder of ['.cache/steno', 'steno', '.', 'steno/Cache']) {
        mkdirSync(join(elsewhere, folder), { recursive: true, mode: 0o700 });
        writeFileSync(join(elsewhere, folder, basename(path)), foreignCode(), { mode: 0o600 });
      }
      const before = listing(elsewhere);
      const { stdout } = await user.run(['config', 'path'], { env: { [name]: elsewhere } });
      expect(stdout).toBe(`${join(user.home, 'config', 'config.json')}\n`);
      expect(listing(elsewhere)).toEqual(before);
    },
  );

  const hazards: ReadonlyArray<readonly [string, (path: string, folder: string) => void]> = [
    ['a file that others may write', (path) => chmodSync(path, 0o622)],
    ['a file that others may read', (path) => chmodSync(path, 0o644)],
    ['a folder that others may write', (_, folder) => chmodSync(folder, 0o777)],
    ['a folder that the group may open', (_, folder) => chmodSync(folder, 0o750)],
    ['a link to a file', (path) => linkTo(path)],
    ['a link to a folder', (_, folder) => linkTo(folder)],
  ];

  it.each(hazards)('is not run from %s', async (_, spoil) => {
    const { user, path } = await withCache();
    writeFileSync(path, foreignCode());
    spoil(path, folderOf(user));
    const { code, stdout, stderr } = await user.run(['config', 'path']);
    expect([code, stdout, stderr]).toEqual([0, `${join(user.home, 'config', 'config.json')}\n`, '']);
  });

  it.runIf(process.getuid?.() === 0)('is not run from a file or folder of another user', async () => {
    for (const of of ['file', 'folder'] as const) {
      const { user, path } = await withCache();
      writeFileSync(path, foreignCode());
      chownSync(of === 'file' ? path : folderOf(user), 12345, 12345);
      expect((await user.run(['config', 'path'])).stdout).not.toContain(EVIL);
    }
  });

  it('is not kept in a folder that others may write', async () => {
    const user = homeowner();
    mkdirSync(folderOf(user), { recursive: true });
    chmodSync(folderOf(user), 0o777);
    expect((await user.run(['config', 'path'])).code).toBe(0);
    expect(kept(user)).toEqual([]);
  });

  it('is kept closed to others', async () => {
    const { user, path } = await withCache();
    expect([modeOf(folderOf(user)), modeOf(path)]).toEqual(['700', '600']);
  });
});

function linkTo(path: string): void {
  renameSync(path, `${path}.moved`);
  symlinkSync(`${path}.moved`, path);
}
