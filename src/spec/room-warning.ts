import type { Output } from '../ui/output.ts';

/** Warns if the disk of a folder is nearly full; tells whether it is. */
export async function warnIfRoomIsLow(folder: string, out: Output): Promise<boolean> {
  const { littleRoom, roomText } = await import('../lib/disk-room.ts');
  const left = littleRoom(folder);
  if (left === undefined) return false;
  await out.warn(
    `the disk of the ledger is nearly full: ${roomText(left)} left for ${folder}`,
    'make room; old events are removed with: steno ledger prune --before 90d',
  );
  return true;
}
