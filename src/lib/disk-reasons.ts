/** Why the disk refused, in words. */
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode, errorMessage } from './errors.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EROFS: 'the disk can only be read',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'symlinks lead in a circle',
  ENOTDIR: 'it lies below a file',
};

const unwritable = new Set(['EROFS', 'EACCES', 'EPERM']);

/** Whether a folder refused because nothing may be written to it; another folder may do. */
export const isUnwritable = (error: unknown): boolean => unwritable.has(errorCode(error) ?? '');

/** Some file systems (network shares, FUSE) can't sync: there is no more to be done. */
const unableToSync = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

export const isUnableToSync = (error: unknown): boolean => unableToSync.has(errorCode(error) ?? '');

export function throwUnlessUnableToSync(error: unknown): void {
  if (!isUnableToSync(error)) throw error;
}

export const diskReason = (error: unknown): string => reasons[errorCode(error) ?? ''] ?? errorMessage(error);

/** SQLite needs some pages beside its file before it can so much as read it. */
const ROOM_TO_OPEN = 64 * 1024;

/** Why a file and what is written beside it can't be written to; undefined where they can. */
export function whyUnwritable(path: string): NodeJS.ErrnoException | undefined {
  try {
    for (const each of [dirname(path), path]) if (existsSync(each)) accessSync(each, constants.W_OK);
    const { bavail, blocks, bsize } = statfsSync(dirname(path));
    // Some network drives tell nothing.
    const isFull = blocks > 0 && bavail * bsize < ROOM_TO_OPEN;
    return isFull ? Object.assign(new Error('no room'), { code: 'ENOSPC' }) : undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}
