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

/**
 * Removes what a crash left behind, and nothing that is being written. The second name of a file stays for an hour unless
 * the file `isNoted`: it tells the next run that the file may be a transcript of ours.
 */
export async function removeLeftovers(
  folder: string,
  isNoted: (path: string) => Promise<boolean | undefined>,
): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const [, owner, pid] = NAME.exec(name) ?? [];
    const path = join(folder, name);
    const found = owner === undefined ? undefined : await stat(path).catch(() => undefined);
    if (!found) continue;
    const isOrphan = owner === machine && Number(pid) !== process.pid && !isRunning(Number(pid));
    const isOld = Date.now() - found.mtimeMs > ABANDONED_AFTER_MS;
    const other = isOrphan && found.nlink > 1 ? await otherName(path, folder, names) : undefined;
    const isNeeded = !isOld && (!isOrphan || (other !== undefined && !(await isNoted(other))));
    if (!isNeeded) await unlink(path).catch(() => {});
  }
}

/** The hidden names of a file, and whether one is of another process that runs still, and will note it. */
export async function secondNames(path: string): Promise<{ hidden: string[]; isBeingNoted: boolean }> {
  const folder = dirname(path);
  const hidden: string[] = [];
  let isBeingNoted = false;
  for (const name of await readdir(folder).catch(() => [])) {
    const [, owner, pid] = NAME.exec(name) ?? [];
    if (owner === undefined || !(await isSameFile(path, join(folder, name)))) continue;
    hidden.push(join(folder, name));
    isBeingNoted ||= Number(pid) !== process.pid && (owner !== machine || isRunning(Number(pid)));
  }
  return { hidden, isBeingNoted };
}

/** Of the names in a folder, another one of the same file that is not hidden. */
async function otherName(
  path: string,
  folder: string,
  names: readonly string[],
): Promise<string | undefined> {
  for (const each of names.filter((name) => !NAME.test(name)).map((name) => join(folder, name)))
    if (await isSameFile(path, each)) return each;
  return undefined;
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map((path) => stat(path, { bigint: true }).catch(() => undefined)),
  );
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev;
}
