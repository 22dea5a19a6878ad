/** The code that V8 compiled is kept for the next run, and never changes what a command does. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { User } from '../support/steno.ts';

const folderOf = (user: User): string => join(user.home, 'state', 'code');
const kept = (user: User): string[] => (existsSync(folderOf(user)) ? readdirSync(folderOf(user)).sort() : []);
/** Which files there are, and when each was written. */
const written = (user: User): Array<[string, number]> =>
  kept(user).map((name) => [name, statSync(join(folderOf(user), name)).mtimeMs]);

describe('compiled code', () => {
  it('is kept for each command, and taken by its next run as it is', async () => {
    const { service, user } = await account();
    service.on('*', { body: '{"balance":"1.00"}' });
    for (let time = 0; time < 2; time += 1) await user.run(['config', 'list']);
    const first = await user.run(['balance']);
    const after = written(user);
    expect(kept(user).map((name) => name.split('-', 2).join('-'))).toEqual([
      'steno.js-balance',
      'steno.js-config',
      'undici.js-balance',
    ]);
    expect(await user.run(['balance'])).toEqual(first);
    // Had V8 refused it, it would have been written again.
    expect(written(user)).toEqual(after);
  });

  it('is taken also where the command changed the flags of V8 most', async () => {
    const { service, user } = await account();
    service.on('*', { body: 'x'.repeat(3_000_000) });
    await user.run(['transcript', '1', '2', '3']);
    const after = written(user);
    const { code } = await user.run(['transcript', '1', '2', '3', '--force']);
    expect([code, written(user)]).toEqual([0, after]);
  });

  it('is kept neither for a failure nor for a word that is no command', async () => {
    const user = new User();
    expect((await user.run(['balance'])).code).toBe(3);
    expect((await user.run(['blance'])).code).toBe(2);
    expect((await user.run(['../../escape', 'config'])).code).toBe(2);
    expect(kept(user)).toEqual([]);
  });

  it('is replaced where it is damaged, and that of another build is removed', async () => {
    const user = new User();
    const { stdout } = await user.run(['config', 'list']);
    const [name = ''] = kept(user);
    const path = join(folderOf(user), name);
    for (const damage of [Buffer.from('nonsense'), Buffer.alloc(0), readFileSync(path).subarray(0, 5000)]) {
      writeFileSync(path, damage);
      writeFileSync(join(folderOf(user), 'steno.js-config-0123456789abcdef-v20.0.0-arm64'), 'old');
      const { code, stdout: again, stderr } = await user.run(['config', 'list']);
      expect([code, again, stderr]).toEqual([0, stdout, '']);
      expect(kept(user)).toEqual([name]);
      expect(statSync(path).size).toBeGreaterThan(100_000);
    }
  });

  it('is done without where its folder is no folder', async () => {
    const user = new User();
    mkdirSync(join(user.home, 'state'));
    writeFileSync(folderOf(user), 'a file');
    const { code, stderr } = await user.run(['config', 'list']);
    expect([code, stderr, readFileSync(folderOf(user), 'utf8')]).toEqual([0, '', 'a file']);
  });
});
