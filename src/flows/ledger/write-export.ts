/**
 * Writes an export or a report to a file: beside it first, so that it is never half of one. An earlier one is replaced only where
 * that is asked for: it may be all that is left of a ledger.
 */
import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { diskReason } from '../../lib/disk-reasons.ts';
import { DiskError, errorCode, StenoError } from '../../lib/errors.ts';
import { makeFolder } from '../../lib/folders.ts';
import { noReport, type Report } from '../../lib/progress.ts';

/** Throws where something has this name, also a link that leads nowhere. */
export function checkIsFree(path: string): void {
  const found = whatIsAt(path);
  // No flag replaces a folder.
  if (found?.isDirectory()) throw new DiskError(`can't write ${path}: it is a folder`);
  if (found) throw existsError(path);
}

/** Where that can't be told, writing says why. */
function whatIsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const existsError = (path: string): StenoError =>
  new StenoError('failed', `${path} is there already`, { hint: 'replace it with --force' });

export async function writeExport(
  path: string,
  lines: AsyncIterable<string>,
  force: boolean,
  report: Report = noReport,
): Promise<void> {
  let bytes = 0;
  const draft = `${path}.${process.pid}.part`;
  try {
    makeFolder(dirname(path));
    const file = openSync(draft, 'w', 0o600);
    try {
      for await (const some of lines) {
        const chunk = Buffer.from(some);
        writeFully(file, chunk);
        bytes += chunk.length;
        report({ bytes });
      }
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (force) renameSync(draft, path);
    else renameToFree(draft, path);
  } catch (error) {
    removeIfPossible(draft);
    const isOfDisk = error instanceof Error && 'syscall' in error;
    throw isOfDisk ? new DiskError(`can't write ${path}: ${diskReason(error)}`, { cause: error }) : error;
  }
}

/** A file that came meanwhile stays: a link, unlike a rename, never replaces one. */
function renameToFree(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw existsError(path);
    // Some drives have no links.
    checkIsFree(path);
    renameSync(draft, path);
    return;
  }
  rmSync(draft);
}

/** The error that led here is the one to tell. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {}
}

function writeFully(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
