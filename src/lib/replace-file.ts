/** Replaces a file that a person cares for: whole or not at all, with its mode, its owner and its links. */
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { diskReason } from './disk-reasons.ts';
import { DiskError, errorCode } from './errors.ts';

/** Makes it if there is none. A link stays a link, also one to nowhere: what it names is written. */
export function replaceFile(path: string, content: Uint8Array): void {
  try {
    const target = writtenFile(path);
    const before = statSync(target, { throwIfNoEntry: false });
    if (before && !before.isFile()) throw new DiskError(`can't write ${path}: it is not a file`);
    // A rename would also replace a file that its owner has closed to writing.
    if (before) accessSync(target, constants.W_OK);
    writeBeside(target, content, before);
  } catch (error) {
    if (error instanceof DiskError) throw error;
    throw new DiskError(`can't write ${path}: ${diskReason(error)}`, { cause: error });
  }
}

function writeBeside(target: string, content: Uint8Array, before: Stats | undefined): void {
  const draft = join(dirname(target), `.${basename(target)}.${process.pid}.new`);
  let file: number | undefined;
  try {
    // Of a process that had this number and was killed.
    rmSync(draft, { force: true });
    file = openSync(draft, 'wx', before ? 0o600 : 0o644);
    writeFileSync(file, content);
    if (before) keepAccess(file, before);
    fsyncSync(file);
    closeSync(file);
    file = undefined;
    renameSync(draft, target);
  } catch (error) {
    if (file !== undefined) closeSync(file);
    if (errorCode(error) !== 'EEXIST') rmSync(draft, { force: true });
    throw error;
  }
}

function keepAccess(file: number, { uid, gid, mode }: Stats): void {
  if (uid !== process.getuid?.() || gid !== process.getgid?.()) {
    try {
      fchownSync(file, uid, gid);
    } catch {
      // Only root may give a file away; without that it is ours, as every editor leaves it.
    }
  }
  fchmodSync(file, mode & 0o7777);
}

/** The file that a path leads to through links, whether it is there or not. */
export function writtenFile(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  const folder = realpathSync(dirname(path));
  const link = linkAt(path);
  return link === undefined ? join(folder, basename(path)) : writtenFile(resolve(folder, link));
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (['ENOENT', 'EINVAL', 'UNKNOWN'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
