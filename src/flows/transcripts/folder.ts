import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { usage } from '../../lib/errors.ts';
import { isDanglingLink } from '../../lib/folders.ts';

/** Refuses a download folder that is a file or lies below one, before anything is sent. */
export function checkFolder(path: string): void {
  if (isDanglingLink(path)) throw usage(`'${path}' is a symlink to nowhere`);
  if (!canBeFolder(resolve(path))) throw usage(`'${path}' is not a folder, and can't be made one`);
}

/** What is not there can be made below a folder. Node 26 does not tell it from what lies below a file. */
function canBeFolder(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isDirectory() ?? (dirname(path) === path || canBeFolder(dirname(path)));
  } catch {
    return false;
  }
}
