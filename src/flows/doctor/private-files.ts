/** Whether a file or folder is closed to other users. Windows has no such modes. */
import { type Stats, statSync } from 'node:fs';
import { shellWord } from '../../lib/shell-word.ts';
import { type Finding, warn } from './check.ts';

const STICKY = 0o1000;

/** What is wrong with the owner or the mode; undefined where nothing is. */
export function accessTrouble(path: string, mode: 0o600 | 0o700): Finding | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  const us = process.getuid?.();
  if (!stats || us === undefined) return undefined;
  if (stats.uid !== us && us !== 0)
    return warn(
      `${path} belongs to another user (number ${stats.uid})`,
      `if it is yours, run: sudo chown ${us} ${shellWord(path)}`,
    );
  // Of a shared folder, such as /tmp, the mode is not ours to change.
  if ((stats.mode & 0o077) === 0 || stats.mode & STICKY) return undefined;
  return warn(
    `others may open ${path} (mode ${modeText(stats)})`,
    `run: chmod ${mode.toString(8)} ${shellWord(path)}`,
  );
}

export const modeText = ({ mode }: Stats): string => (mode & 0o777).toString(8).padStart(4, '0');
