import { statfsSync } from 'node:fs';

const MEGABYTE = 1024 * 1024;
const LITTLE_BYTES = 100 * MEGABYTE;
/** On a large disk 1 % is little, but no more than this. */
const MAX_LITTLE_BYTES = 1024 * MEGABYTE;

/** How many bytes are left on the disk of a folder, if that is little: under 100 MB, or under 1 % and 1 GB. */
export function littleRoom(folder: string): number | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    const limit = Math.max(LITTLE_BYTES, Math.min((blocks * bsize) / 100, MAX_LITTLE_BYTES));
    // Some network drives tell nothing.
    return blocks > 0 && bavail * bsize < limit ? bavail * bsize : undefined;
  } catch {
    return undefined;
  }
}

export const roomText = (bytes: number): string => `${Math.floor(bytes / MEGABYTE)} MB`;
