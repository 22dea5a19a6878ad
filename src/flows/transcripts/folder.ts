import { statSync } from 'node:fs';
import { usage } from '../../lib/errors.ts';

/** Refuses a place for downloads that can never be a folder, before anything is sent for it. */
export function checkFolder(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? true) return;
  } catch {
    // A step on the way to it is no folder.
  }
  throw usage(`'${path}' is not a folder, and can't be made one`);
}
