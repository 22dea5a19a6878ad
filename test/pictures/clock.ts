/** A clock for every process of a recording: it stands still until the recording moves it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface StoppedClock {
  /** For the processes whose clock it is. */
  readonly env: Record<string, string>;
  /** `09:41:07`, in UTC */
  set(time: string): void;
}

const DAY = '2026-03-02';

export function stoppedClock(folder: string, time: string): StoppedClock {
  const [preload, hand] = [join(folder, 'clock.cjs'), join(folder, 'clock')];
  const set = (next: string): void => writeFileSync(hand, String(Date.parse(`${DAY}T${next}.000Z`)));
  set(time);
  // Read at each call, because a process that runs must see it move. A file that is being written is empty.
  writeFileSync(
    preload,
    `const { readFileSync } = require('node:fs');
const RealDate = Date;
let last = 0;
const now = () => (last = Number(readFileSync(${JSON.stringify(hand)}, 'utf8')) || last);
globalThis.Date = class extends RealDate {
  constructor(...args) { super(...(args.length ? args : [now()])); }
  static now() { return now(); }
};`,
  );
  return { env: { NODE_OPTIONS: `--require ${preload}`, TZ: 'UTC' }, set };
}
