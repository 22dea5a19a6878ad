/**
 * Downloads under way: hidden files beside their final path, with the machine and process that writes them in the name.
 * One that the ledger is to know of keeps its hidden name beside the final one until it is noted, and which transcript it
 * is stands in that name: a run that was killed in between leaves a file that the next one can tell from others.
 */
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
const writer = `${machine}-${process.pid}`;
/** Eight digits or more, as in NAME. */
let counter = randomInt(10_000_000, 90_000_000);

/** Which transcript a hidden file is. */
export interface PartialTag {
  readonly transcript: string;
  /** The file was not known to be delivered. */
  readonly isDraft: boolean;
}

export const transcriptTag = (profile: string, id: string, ext: string): string =>
  createHash('sha256')
    .update(JSON.stringify([profile, id, ext]))
    .digest('hex')
    .slice(0, 8);

/** A download that has its final name and was not noted when its process was killed. */
export interface LeftDownload extends PartialTag {
  /** The hidden name. */
  readonly partial: string;
}

export function partialPath(path: string, tag?: PartialTag): string {
  counter += 1;
  const what = tag ? `-${tag.transcript}${tag.isDraft ? '-draft' : ''}` : '';
  const owner = `${writer}-${counter}${what}`;
  const name = basename(path);
  const start = name.length > KEPT_CHARACTERS ? [...name].slice(0, KEPT_CHARACTERS).join('') : name;
  return `${path.slice(0, path.length - name.length)}.${start}.${owner}.steno-part`;
}

const NAME = /^\..*\.([0-9a-f]{8})-(\d+)-[0-9a-f]{8,}(?:-([0-9a-f]{8})(-draft)?)?\.steno-part$/;

/** Whether the ledger knows the file at a path as a transcript. */
type IsNoted = (path: string) => Promise<boolean | undefined>;

/**
 * Removes what a crash left behind, and nothing that is being written. What has its final name, and is not noted, stays
 * for an hour: gives it by `identityOf`.
 */
export async function removeLeftovers(
  folder: string,
  isNoted: IsNoted,
): Promise<ReadonlyMap<string, LeftDownload>> {
  const names = await readdir(folder).catch(() => []);
  const left = new Map<string, LeftDownload>();
  for (const name of names) {
    const [, owner, pid, transcript, draft] = NAME.exec(name) ?? [];
    if (owner === undefined) continue;
    const partial = join(folder, name);
    const isOrphan = owner === machine && Number(pid) !== process.pid && !isRunning(Number(pid));
    const isOld = await isAbandoned(partial);
    if (!isOrphan && !isOld) continue;
    const whole =
      transcript && !isOld ? await otherName(partial, names, (each) => !NAME.test(each)) : undefined;
    if (!transcript || whole === undefined || (await isNoted(whole))) await unlink(partial).catch(() => {});
    else left.set(await identityOf(whole), { partial, transcript, isDraft: draft !== undefined });
  }
  return left;
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS;
}

/** Whether another process has just written this transcript there: it keeps the hidden name until it is noted. */
export async function isBeingNoted(path: string, transcript: string): Promise<boolean> {
  const names = await readdir(dirname(path)).catch(() => []);
  return (await otherName(path, names, (name) => NAME.exec(name)?.[3] === transcript)) !== undefined;
}

/** Of the names in its folder that fit, another one of the same file. */
async function otherName(
  path: string,
  names: readonly string[],
  fits: (name: string) => boolean,
): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile() || found.nlink < 2) return undefined;
  const identity = await identityOf(path);
  for (const other of names.filter(fits).map((name) => join(dirname(path), name)))
    if ((await identityOf(other)) === identity) return other;
  return undefined;
}

/** Two names of one file have the same; empty where there is none. */
export async function identityOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found ? `${found.dev} ${found.ino}` : '';
}
