/** Half-written files: they stand beside their place under a name that tells whose they are. */
import { createHash, randomInt } from 'node:crypto';
import { readdir, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isRunning } from '../../lib/processes.ts';

/** So much of the name tells people what it will be. */
const KEPT = 30;
const machine = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
/** No download is silent for so long: a part that nobody wrote to since then is nobody's any more. */
const ABANDONED = 3_600_000;

let number = randomInt(2 ** 31);

export function partOf(path: string): string {
  number += 1;
  const mark = `${machine}-${process.pid}-${number.toString(16).padStart(8, '0')}`;
  const name = basename(path);
  const kept = name.length > KEPT ? [...name].slice(0, KEPT).join('') : name;
  return join(dirname(path), `.${kept}.${mark}.steno-part`);
}

/** Removes what a crash left behind, and nothing that is being written. */
export async function removeLeftovers(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const [, owner, pid] = /^\..*\.([0-9a-f]{8})-(\d+)-[0-9a-f]{8}\.steno-part$/.exec(name) ?? [];
    if (!owner) continue;
    const path = join(folder, name);
    const orphaned = owner === machine && Number(pid) !== process.pid && !isRunning(Number(pid));
    if (orphaned || (await isAbandoned(path))) await unlink(path).catch(() => {});
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > ABANDONED;
}
