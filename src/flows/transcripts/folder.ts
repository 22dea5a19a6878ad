import { statSync } from 'node:fs';
import { usage } from '../../lib/errors.ts';
import { isDanglingLink } from '../../lib/folders.ts';

/** Refuses a download folder that is a file or lies below one, before anything is sent. */
export function checkFolder(path: string): void {
  if (isDanglingLink(path)) throw usage(`'${path}' is a symlink to nowhere`);
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? true) return;
  } catch {
    // A part of its path is not a folder.
  }
  throw usage(`'${path}' is not a folder, and can't be made one`);
}
