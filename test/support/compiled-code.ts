/** Where the program keeps its compiled code in tests: below the home that the system knows, and no other. */
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { User } from './steno.ts';

const shared = resolve('node_modules/.cache/steno-tests');
const preload = resolve('test/support/system-home.cjs');

/** Before the first test: the folder must be there, and the user's alone. */
export function makeSharedFolder(): void {
  mkdirSync(shared, { recursive: true, mode: 0o700 });
}

/** Lets the program of a new user take the compiled code of all; gives the arguments of Node that it needs. */
export function shareCompiledCode(home: string): readonly string[] {
  if (!existsSync(shared)) return [];
  symlinkSync(shared, join(home, '.cache'));
  return ['--require', preload];
}

/** The same for a home whose programs are started by a shell. */
export function withCompiledCode(home: string): Record<string, string> {
  const words = shareCompiledCode(home).map((word) => (word.includes(' ') ? `"${word}"` : word));
  return { STENO_TEST_HOME: home, NODE_OPTIONS: words.join(' ') };
}

/** Lets the program of this user keep compiled code of its own, of which there is none as yet. */
export function ownCompiledCode(user: User): void {
  rmSync(join(user.home, '.cache'));
}
