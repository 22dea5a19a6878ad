/** Writes an export to a file: beside it first, so that an earlier one is replaced only by a whole one. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { DiskError, errorMessage } from '../../lib/errors.ts';
import { makeFolder } from '../../lib/folders.ts';

export async function writeExport(path: string, lines: AsyncIterable<string>): Promise<void> {
  const draft = `${path}.${process.pid}.part`;
  try {
    makeFolder(dirname(path));
    const file = openSync(draft, 'w', 0o600);
    try {
      for await (const some of lines) writeFully(file, Buffer.from(some));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    removeIfPossible(draft);
    const isOfDisk = error instanceof Error && 'syscall' in error;
    throw isOfDisk ? new DiskError(`can't write ${path}: ${errorMessage(error)}`, { cause: error }) : error;
  }
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
