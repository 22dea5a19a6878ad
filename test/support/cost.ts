/** What a run of the program takes, by its own account: so little depends on what else the machine does. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { User } from './steno.ts';

export interface Cost {
  readonly megabytes: number;
  /** Of the processor. */
  readonly milliseconds: number;
}

/** The path of a script for `node --require` that tells at the end, on stderr, what the process took. */
export function costReporter(user: User): string {
  const path = join(user.home, 'watch.cjs');
  writeFileSync(
    path,
    `process.on('exit', () => {
      const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
      require('fs').writeSync(2, 'took ' + maxRSS + ' ' + (userCPUTime + systemCPUTime));
    })`,
  );
  return path;
}

export function reportedCost(stderr: string): Cost {
  const [, kilobytes, microseconds] = /took (\d+) (\d+)$/.exec(stderr) ?? [];
  return { megabytes: Number(kilobytes) / 1024, milliseconds: Number(microseconds) / 1000 };
}
