/** Puts a completion script where its shell finds it, and takes it away again. */
import { existsSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DiskError, errorCode, systemReason, usage } from '../lib/errors.ts';
import { makeFolder } from '../lib/fs.ts';
import { replaceFile, writtenFile } from '../lib/whole-file.ts';
import type { Shell } from './model.ts';
import type { Place } from './places.ts';

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
  if (before && after) return before.equals(after) ? 'unchanged' : 'changed';
  if (before) return 'removed';
  return after ? 'new' : 'unchanged';
}

export function planInstall({ shell, script: path, startUpFile, block }: Place, script: string): Change[] {
  const before = readFile(path);
  if (before && !isOurs(before))
    throw usage(`${path} exists, but is not a script of steno`, 'move it away, then try again');
  const folders = before
    ? madeFolders(before)
    : foldersAbove(path).filter((each) => !existsSync(each)).length;
  const after = Buffer.from(`${script}\n${TRAILER}${folders}\n`);
  const change: Change = { shell, path, part: 'script', before, after };
  if (startUpFile === undefined) return [change];
  const text = readFile(startUpFile);
  return [
    change,
    { shell, path: startUpFile, part: 'block', before: text, after: withBlock(startUpFile, text, block) },
  ];
}

/** Only what is there, so none where nothing is installed. The block goes first: it names the script. */
export function planUninstall({ shell, script, startUpFiles }: Place): Change[] {
  const blocks = [...new Set(startUpFiles)].flatMap((path): Change[] => {
    const before = readFile(path);
    const after = before && withoutBlock(path, before);
    return before === after ? [] : [{ shell, path, part: 'block', before, after }];
  });
  const before = readFile(script);
  if (!before || !isOurs(before)) return blocks;
  return [...blocks, { shell, path: script, part: 'script', before, after: undefined }];
}

/** Makes all changes or none: what was done is undone where one fails. */
export async function apply(changes: readonly Change[]): Promise<void> {
  const done: Change[] = [];
  try {
    for (const change of changes.filter((each) => kindOf(each) !== 'unchanged')) {
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
    throw new DiskError(`can't remove ${path}: ${systemReason(error)}`, { cause: error });
  }
}

/** Those that were made for what is gone, from the inside out, if they are empty. */
function removeFolders(changes: readonly Change[]): void {
  const folders = changes.flatMap(({ path, before, after }) =>
    before && !after ? foldersAbove(path).slice(0, madeFolders(before)) : [],
  );
  for (const folder of folders.sort((a, b) => b.length - a.length)) {
    try {
      rmdirSync(folder);
    } catch {
      // Something else is in it by now.
    }
  }
}

/** From the inside out. */
function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}

const TRAILER = '# Installed by steno completion install; folders made for it: ';

const madeFolders = (script: Buffer): number =>
  Number(new RegExp(`^${TRAILER}(\\d{1,2})$`, 'm').exec(script.toString())?.[1] ?? 0);

const isOurs = (script: Buffer): boolean =>
  /^# Completion of steno for \w+, /m.test(script.toString().slice(0, 200));

function readFile(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new DiskError(`can't read ${path}: ${systemReason(error)}`, { cause: error });
  }
}

/**
 * A block of lines of ours in a file that belongs to a person. It is found by its marks, and taking it out gives the
 * file back as it was, to the byte: what had to be added besides is said in the first mark.
 */
const BEGIN = '# >>> steno completion';
const END = '# <<< steno completion <<<';
const NEW_FILE = ', which made this file';
const NEW_LINE = ', which ended the line above';
const BOM = '\ufeff';

/** The file with the block, at its end or where it was. */
function withBlock(path: string, file: Buffer | undefined, lines: readonly string[]): Buffer {
  const encoding = encodingOf(path, file);
  const text = file?.toString(encoding) ?? '';
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
  const isOpen = text !== '' && text !== BOM && !text.endsWith('\n');
  const { start, end, note } = findBlock(path, text) ?? {
    start: text.length,
    end: text.length,
    note: `${file ? '' : NEW_FILE}${isOpen ? NEW_LINE : ''}`,
  };
  // The lines come as UTF-8; as latin1, their bytes stay what they are.
  const own = encoding === 'latin1' ? lines.map((line) => Buffer.from(line).toString('latin1')) : lines;
  const block = [`${BEGIN}${note} >>>`, ...own, END, ''].join(lineEnd);
  const before = text.slice(0, start) + (isOpen && start === text.length ? lineEnd : '');
  return Buffer.from(before + block + text.slice(end), encoding);
}

/** The file without the block: undefined if it was made for it, the same file if it has none. */
function withoutBlock(path: string, file: Buffer): Buffer | undefined {
  const encoding = encodingOf(path, file);
  const text = file.toString(encoding);
  const found = findBlock(path, text);
  if (!found) return file;
  const after = text.slice(found.end);
  // Where something follows, the line must stay ended.
  const endsLine = found.note.includes(NEW_LINE) && after === '';
  const before = text.slice(0, found.start).replace(endsLine ? /\r?\n$/ : '', '');
  if (found.note.includes(NEW_FILE) && before + after === '') return undefined;
  return withoutBlock(path, Buffer.from(before + after, encoding));
}

interface Block {
  readonly start: number;
  readonly end: number;
  readonly note: string;
}

function findBlock(path: string, text: string): Block | undefined {
  const begin = new RegExp(`^${BEGIN}(.*) >>>\\r?$`, 'm').exec(text.replace(BOM, '\n'));
  if (!begin) return undefined;
  const endMark = text.indexOf(END, begin.index);
  if (endMark < 0) throw cantChange(path, `the end of steno's lines is missing: '${END}'`);
  const lineEnd = text.indexOf('\n', endMark);
  return { start: begin.index, end: lineEnd < 0 ? text.length : lineEnd + 1, note: begin[1] ?? '' };
}

/** Windows PowerShell writes its profile in UTF-16. As latin1, every byte of anything else stays what it is. */
function encodingOf(path: string, file: Buffer | undefined): 'latin1' | 'utf16le' {
  const mark = file?.subarray(0, 2).toString('hex');
  if (mark === 'feff') throw cantChange(path, 'the file is UTF-16 with its bytes swapped');
  return mark === 'fffe' ? 'utf16le' : 'latin1';
}

const cantChange = (path: string, why: string): Error =>
  usage(`can't change ${path}: ${why}`, 'edit it yourself; it was not changed');
