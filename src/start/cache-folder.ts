/**
 * Where compiled code may be kept. Whoever can write there runs code as the user, so it is the user's own cache folder
 * and no other: no setting and no variable can name one, and the files must belong to the user alone.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../lib/folders.ts';

/** The cache folder below the home that the system knows; none where HOME names another one. */
export function cacheFolder(platform = process.platform): string | undefined {
  const home = homeOfUser();
  if (!home || home !== homedir()) return undefined;
  if (platform === 'win32') return join(home, 'AppData', 'Local', 'steno', 'Cache');
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'steno');
  return join(home, '.cache', 'steno');
}

/** A container may run under a user id that has no name, and no home. */
function homeOfUser(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

/** Makes the folder if it is missing, and says whether it is the user's alone. */
export function isPrivateFolder(folder: string, make = false): boolean {
  try {
    if (make) makeFolder(folder, 0o700);
    const stats = lstatSync(folder);
    return stats.isDirectory() && isOurs(stats);
  } catch {
    return false;
  }
}

/** The content of a file that is the user's alone; undefined for any other, and if there is none. */
export function readPrivateFile(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    // A link, also one to a file of ours, is not followed; opening a pipe must not wait for its writer.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(file);
    return stats.isFile() && isOurs(stats) ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** On Windows modes say nothing: there the profile of the user is closed to others. */
const isOurs = ({ uid, mode }: Stats): boolean =>
  process.platform === 'win32' || (uid === process.getuid?.() && (mode & 0o077) === 0);
