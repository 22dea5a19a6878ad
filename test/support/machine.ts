/** Another machine: a home of its own, a host name and a user of its own, and a clock of its own. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { User } from './steno.ts';

export interface MachineOptions {
  readonly host: string;
  readonly user: string;
  /** By how much its clock is ahead. */
  readonly clockAheadMs?: number;
}

/** Only what the system says is replaced; the program is the real one. */
export function machine(
  { host, user, clockAheadMs = 0 }: MachineOptions,
  env: Record<string, string | undefined>,
): User {
  const created = new User(env);
  const preload = join(created.home, 'machine.cjs');
  writeFileSync(
    preload,
    `const os = require('node:os');
const { syncBuiltinESMExports } = require('node:module');
const { userInfo } = os;
os.hostname = () => ${JSON.stringify(host)};
os.userInfo = (...args) => ({ ...userInfo(...args), username: ${JSON.stringify(user)} });
syncBuiltinESMExports();
const ahead = ${clockAheadMs};
if (ahead) {
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...args) { args.length ? super(...args) : super(RealDate.now() + ahead); }
    static now() { return RealDate.now() + ahead; }
  };
}
`,
  );
  created.env.NODE_OPTIONS = `--require ${preload}`;
  return created;
}
