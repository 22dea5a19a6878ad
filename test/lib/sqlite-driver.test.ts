import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshFolder } from '../support/files.ts';
import { User } from '../support/steno.ts';

const SQLITE = join('node_modules', '@photostructure', 'sqlite');

/** The program below `program`, and a package of SQLite below `packages` whose scripts can't be loaded. */
function install(program: string, packages: string): User {
  const folder = freshFolder();
  for (const part of ['bin', 'dist']) cpSync(part, join(folder, program, part), { recursive: true });
  const sqlite = join(folder, packages, SQLITE);
  mkdirSync(sqlite, { recursive: true });
  symlinkSync(resolve(SQLITE, 'prebuilds'), join(sqlite, 'prebuilds'), 'junction');
  writeFileSync(join(sqlite, 'package.json'), '{"main":"none.js"}');
  return new (class extends User {
    override readonly program: readonly [string, ...string[]] = [
      process.execPath,
      join(folder, program, 'bin', 'steno.js'),
    ];
  })();
}

describe('the native file of SQLite is found without the scripts of its package', () => {
  it.each([
    ['in the package itself', 'steno-cli', 'steno-cli'],
    ['beside it', join('node_modules', 'steno-cli'), ''],
    ['in a folder above', join('tools', 'steno'), ''],
  ])('%s', async (_, program, packages) => {
    expect(await install(program, packages).run(['files'])).toMatchObject({ code: 0, stderr: '' });
  });
});
