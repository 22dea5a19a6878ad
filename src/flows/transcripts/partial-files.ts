/** Downloads under way: hidden files beside their final path, with the machine and process that writes them in the name. */
import { createHash, randomInt } from 'node:crypto';
import { readdir, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { isRunning } from '../../lib/processes.ts';

/** How much of the final name is in the hidden one, for people to recognise. */
const KEPT_CHARACTERS = 30;
/** No download pauses for this long: a file that was not written to since then is abandoned. */
const ABANDONED_AFTER_MS = 3_600_000;

const machine = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
/** Eight digits or more, as in NAME. */
let counter = randomInt(10_000_000, 90_000_000);

export function partialPath(path: string): string {
  counter += 1;
  const name = basename(path);
  const start = name.length > KEPT_CHARACTERS ? [...name].slice(0, KEPT_CHARACTERS).join('') : name;
  const folder = path.slice(0, path.length - name.length);
  return `${folder}.${start}.${machine}-${process.pid}-${counter}.steno-part`;
}

const NAME = /^\..*\.([0-9a-f]{8})-(\d+)-[0-9a-f]{8,}\.steno-part$/;

/** Removes what a crash left behind, and nothing that is being written. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, owner, pid] = NAME.exec(name) ?? [];
    if (owner === undefined) continue;
    const path = join(folder, name);
    const isOrphan = owner === machine && Number(pid) !== process.pid && !isRunning(Number(pid));
    if (isOrphan || (await isAbandoned(path))) await unlink(path).catch(() => {});
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS;
}
