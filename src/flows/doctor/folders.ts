/** The state folder and its disk. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { littleRoom } from '../../lib/disk-room.ts';
import { errorMessage } from '../../lib/errors.ts';
import { bytesText } from '../../lib/quantities.ts';
import { canBeNarrowed, folderRefusal } from '../../settings/paths.ts';
import { type Finding, fail, failed, ok, skipped, warn } from './check.ts';
import { accessTrouble, modeText } from './private-files.ts';
import type { Setup } from './setup.ts';

export function checkStateFolder({ stateFolder }: Setup): Finding {
  const folder = stateFolder();
  const isThere = existsSync(folder);
  const nearestFolder = isThere ? folder : nearestExisting(folder);
  if (!statSync(nearestFolder).isDirectory())
    return fail(
      `${nearestFolder} is not a folder`,
      'move it away, or name another folder with STENO_STATE_DIR',
    );
  try {
    accessSync(nearestFolder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return fail(
      `${nearestFolder} can't be written to: ${errorMessage(error)}`,
      'make it writable, or name another folder with STENO_STATE_DIR',
    );
  }
  if (!isThere) return ok(`${folder} is not there yet; the first order makes it`);
  const stats = statSync(folder);
  const refusal = canBeNarrowed(folder, stats) ? undefined : folderRefusal(folder, 'STENO_STATE_DIR');
  if (refusal) return failed(refusal);
  return accessTrouble(folder, 0o700) ?? ok(`${folder}${process.getuid ? ` (mode ${modeText(stats)})` : ''}`);
}

export function checkDisk({ stateFolder }: Setup): Finding {
  const folder = nearestExisting(stateFolder());
  const { bavail, blocks, bsize } = statfsSync(folder);
  if (blocks === 0) return skipped(`the drive of ${folder} does not tell how much room it has`);
  const room = `${bytesText(bavail * bsize)} free for ${folder}`;
  if (littleRoom(folder) === undefined) return ok(room);
  return warn(`only ${room}`, 'make room; old events are removed with: steno ledger prune --before 90d');
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}
