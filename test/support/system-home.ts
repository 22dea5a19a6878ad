/** A user whose HOME is also the home that the system knows: compiled code is kept below that one alone. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { User } from './steno.ts';

/** The environment of a process for which the system calls this user's folder their home. */
export function systemHome(user: User): Record<string, string> {
  const preload = join(user.home, 'system-home.cjs');
  writeFileSync(
    preload,
    `const os = require('node:os');
const { userInfo } = os;
os.userInfo = (...args) => ({ ...userInfo(...args), homedir: ${JSON.stringify(user.home)} });`,
  );
  return { NODE_OPTIONS: `--require ${preload}` };
}
