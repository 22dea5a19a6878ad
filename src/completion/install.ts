/** Puts a completion script where its shell finds it, and takes it away again. */
import { existsSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DiskError, errorCode, errorMessage, usage } from '../lib/errors.ts';
import { makeFolder } from '../lib/folders.ts';
import { replaceFile, writtenFile } from '../lib/whole-file.ts';
import type { Shell } from './model.ts';
import type { Place } from './places.ts';
import { hasBlock, withBlock, withoutBlock } from './rc-block.ts';

/** A file as it will be; undefined where it will not be there. */
export interface Change {
  readonly shell: Shell;
  readonly path: string;
  readonly part: 'script' | 'block';
  readonly before: Buffer | undefined;
  readonly after: Buffer | undefined;
}

type ChangeKind = 'new' | 'changed' | 'removed' | 'unchanged';

export function kindOf({ before, after }: Change): ChangeKind {
  if (before === undefined && after === undefined) return 'unchanged';
  if (before === undefined) return 'new';
  if (after === undefined) return 'removed';
  return before.equals(after) ? 'unchanged' : 'changed';
}

export function planInstall({ shell, script: path, startUpFile, block }: Place, script: string): Change[] {
  const before = readFile(path);
  if (before && !isOurs(before))
    throw usage(`${path} is there and is not a script of steno`, 'move it away, then try again');
  const folders = before ? madeFolders(before) : missingFolders(path);
  const changes: Change[] = [
    { shell, path, part: 'script', before, after: Buffer.from(`${script}${trailer(folders)}`) },
  ];
  if (startUpFile !== undefined) {
    const text = readFile(startUpFile);
    const after = inFile(startUpFile, () => withBlock(text, block));
    changes.push({ shell, path: startUpFile, part: 'block', before: text, after });
  }
  return changes;
}

/** Only what is there, so none where nothing is installed. The block goes first: it names the script. */
export function planUninstall({ shell, script, startUpFiles }: Place): Change[] {
  const blocks = [...new Set(startUpFiles)].flatMap((path): Change[] => {
    const before = readFile(path);
    if (!before || !inFile(path, () => hasBlock(before))) return [];
    return [{ shell, path, part: 'block', before, after: inFile(path, () => withoutBlock(before)) }];
  });
  const before = readFile(script);
  if (!before || !isOurs(before)) return blocks;
  return [...blocks, { shell, path: script, part: 'script', before, after: undefined }];
}

/** Makes all changes or none: what was done is undone where one fails. */
export async function apply(changes: readonly Change[]): Promise<void> {
  const done: Change[] = [];
  try {
    for (const change of changes) {
      if (kindOf(change) === 'unchanged') continue;
      await write(change);
      done.push(change);
    }
    removeFolders(done);
  } catch (error) {
    const undone = done
      .reverse()
      .map((change) => ({ ...change, before: change.after, after: change.before }));
    for (const change of undone) await write(change);
    removeFolders(undone);
    throw error;
  }
}

async function write({ path, after }: Change): Promise<void> {
  if (after) {
    makeFolder(dirname(path), 0o755);
    await replaceFile(path, after);
    return;
  }
  try {
    rmSync(writtenFile(path), { force: true });
  } catch (error) {
    throw new DiskError(`can't remove ${path}: ${errorMessage(error)}`, { cause: error });
  }
}

/** Those that were made for what is gone, from the inside out, if they are empty. */
function removeFolders(changes: readonly Change[]): void {
  const folders = changes.flatMap(({ path, before, after }) =>
    before && !after ? foldersMadeFor(path, before) : [],
  );
  for (const folder of folders.sort((a, b) => b.length - a.length)) {
    try {
      rmdirSync(folder);
    } catch {
      // Something else is in it by now.
    }
  }
}

function foldersMadeFor(path: string, script: Buffer): string[] {
  const folders = [dirname(path)];
  while (folders.length < madeFolders(script)) folders.push(dirname(folders.at(-1) ?? ''));
  return folders.slice(0, madeFolders(script));
}

function missingFolders(path: string): number {
  let count = 0;
  for (let folder = dirname(path); !existsSync(folder); folder = dirname(folder)) count += 1;
  return count;
}

const TRAILER = '# Installed by steno completion install; folders made for it: ';
const trailer = (folders: number): string => `\n${TRAILER}${folders}\n`;

const madeFolders = (script: Buffer): number =>
  Number(new RegExp(`^${TRAILER}(\\d{1,2})$`, 'm').exec(script.toString())?.[1] ?? 0);

const isOurs = (script: Buffer): boolean =>
  /^# Completion of steno for \w+, /m.test(script.toString().slice(0, 200));

function readFile(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new DiskError(`can't read ${path}: ${errorMessage(error)}`, { cause: error });
  }
}

/** Says which file it is about. */
function inFile<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw usage(`can't change ${path}: ${errorMessage(error)}`, 'correct it by hand; it was not changed');
  }
}
