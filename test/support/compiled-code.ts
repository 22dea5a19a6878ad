/** The code that the program keeps compiled: tests share it, because without it each start takes half as long again. */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { User } from './steno.ts';

const shared = resolve('node_modules/.cache/steno-tests');

/** Arguments of Node before the program. */
export const nodeArguments = ['--require', resolve('test/support/compiled-code.cjs')];

/** What they need in the environment. */
export const compiledCode = { STENO_TEST_CODE: shared };

/** The same for programs that a shell starts. */
export const inShell = { ...compiledCode, NODE_OPTIONS: nodeArguments.map(quoted).join(' ') };

function quoted(word: string): string {
  return word.includes(' ') ? `"${word}"` : word;
}

/** Before the first test: the folder must be the user's alone. */
export function makeSharedFolder(): void {
  mkdirSync(shared, { recursive: true, mode: 0o700 });
}

/** Lets the program of this user keep compiled code of its own, in their home. */
export function ownCompiledCode(user: User): void {
  Object.assign(user.env, { STENO_TEST_CODE: undefined, STENO_TEST_HOME: user.home });
}
