/** Who may read and write the config file: it holds keys, and commands that are run. */
import type { Stats } from 'node:fs';
import { type StenoError, usage } from '../lib/errors.ts';
import { shellWord } from '../lib/shell-word.ts';

const ROOT = 0;

/** Refuses a file that another user could have written, and one with a key that others can read. Not on Windows. */
export function checkAccess(path: string, { uid, mode }: Stats, text: string): void {
  const us = process.getuid?.();
  if (us === undefined) return;
  if (uid !== us && uid !== ROOT) throw foreign(path, uid, us);
  const octal = (mode & 0o777).toString(8).padStart(4, '0');
  if (mode & 0o022)
    throw usage(
      `others may write to the config file ${path} (mode ${octal})`,
      `see that nothing was added to it, then run: chmod 600 ${shellWord(path)}`,
    );
  // The key in a file of root is for those who are let read it: so containers mount it.
  if (uid === us && mode & 0o044 && holdsKey(text))
    throw usage(
      `the config file ${path} holds a key, and others may read it (mode ${octal})`,
      `run: chmod 600 ${shellWord(path)}`,
    );
}

const STICKY = 0o1000;

/** Refuses a folder where any user could replace a file with a key or its command; login narrows it for any other. */
export function checkFolderAccess(folder: string, { mode }: Stats, text: string): void {
  if (process.getuid === undefined || !(mode & 0o002) || mode & STICKY || !/"api-key/.test(text)) return;
  throw usage(
    `others may write to the config folder ${folder} (mode ${(mode & 0o777).toString(8).padStart(4, '0')})`,
    `see that nothing was added to it, then run: chmod 700 ${shellWord(folder)}`,
  );
}

const foreign = (path: string, owner: number, us: number): StenoError =>
  usage(
    `the config file ${path} belongs to another user (number ${owner})`,
    `see what is in it, then run: sudo chown ${us} ${shellWord(path)} && chmod 600 ${shellWord(path)}`,
  );

/** Not parsed: a file that is not valid JSON may hold a key as well. */
const holdsKey = (text: string): boolean =>
  /"api-key"\s*:/.test(text) || /"ledger"\s*:\s*"[^"@/]*\/\/[^"@/]*:[^"]*@/.test(text);
