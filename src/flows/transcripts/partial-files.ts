/** Downloads under way: hidden files beside their final path, with the machine and process that writes them in the name. */
import { createHash, randomInt } from 'node:crypto';
import { readdir, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isRunning } from '../../lib/processes.ts';

/** How much of the final name is in the hidden one, for people to recognise. */
const KEPT_CHARACTERS = 30;
/** No download pauses for this long: a file that was not written to since then is abandoned. */
const ABANDONED_AFTER_MS = 3_600_000;

const machine = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
let counter = randomInt(2 ** 31);

export function partialPath(path: string): string {
  counter += 1;
  const owner = `${machine}-${process.pid}-${counter.toString(16).padStart(8, '0')}`;
  const name = basename(path);
  const start = name.length > KEPT_CHARACTERS ? [...name].slice(0, KEPT_CHARACTERS).join('') : name;
  return join(dirname(path), `.${start}.${owner}.steno-part`);
}

/** Removes what a crash left behind, and nothing that is being written. */
export async function removeLeftovers(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const [, owner, pid] = /^\..*\.([0-9a-f]{8})-(\d+)-[0-9a-f]{8}\.steno-part$/.exec(name) ?? [];
    if (!owner) continue;
    const path = join(folder, name);
    const isOrphan = owner === machine && Number(pid) !== process.pid && !isRunning(Number(pid));
    if (isOrphan || (await isAbandoned(path))) await unlink(path).catch(() => {});
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS;
}
