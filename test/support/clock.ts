/** A clock of the program that a test sets back by an hour, at the moment that the test chooses. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { User } from './steno.ts';

export interface SettableClock {
  /** For the process whose clock it is. */
  readonly env: Record<string, string>;
  setBack(): void;
}

export function settableClock(user: User): SettableClock {
  const [preload, trigger] = [join(user.home, 'clock.cjs'), join(user.home, 'clock-is-set-back')];
  writeFileSync(
    preload,
    `const { existsSync } = require('node:fs');
const RealDate = Date;
const isBack = () => existsSync(${JSON.stringify(trigger)});
const now = () => RealDate.now() - (isBack() ? 3600e3 : 0);
globalThis.Date = class extends RealDate {
  constructor(...args) { super(...(args.length ? args : [now()])); }
  static now() { return now(); }
};`,
  );
  return {
    env: { NODE_OPTIONS: `--require ${preload}` },
    setBack: () => writeFileSync(trigger, ''),
  };
}

/** For a process whose machine's clock is wrong by so many days. */
export function wrongClock(user: User, days: number): Record<string, string> {
  const preload = join(user.home, `clock-${days}.cjs`);
  writeFileSync(
    preload,
    `const RealDate = Date;
const now = () => RealDate.now() + ${days} * 86400e3;
globalThis.Date = class extends RealDate {
  constructor(...args) { super(...(args.length ? args : [now()])); }
  static now() { return now(); }
};`,
  );
  return { NODE_OPTIONS: `--require ${preload}` };
}
