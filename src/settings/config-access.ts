/** Who may read and write the config file: it holds keys, and commands that are run. */
import { type Stats, statSync } from 'node:fs';
import { type StenoError, usage } from '../lib/errors.ts';
import { shellWord } from '../lib/shell-word.ts';
import { folderRefusal } from './paths.ts';

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

/**
 * Refuses a folder of another user, and one where any user could replace a file with a key or its command; login narrows
 * it for any other. In a folder like /tmp only the owner of a file may replace it.
 */
export function checkFolderAccess(folder: string, text: string): void {
  const { mode, uid } = statSync(folder);
  const isForeign = uid !== process.getuid?.() && uid !== ROOT;
  const isOpen = (mode & 0o1002) === 0o0002 && /"api-key/.test(text);
  const refusal = isForeign || isOpen ? folderRefusal(folder, 'STENO_CONFIG_DIR') : undefined;
  if (refusal) throw refusal;
}

const foreign = (path: string, owner: number, us: number): StenoError =>
  usage(
    `the config file ${path} belongs to another user (number ${owner})`,
    `see what is in it, then run: sudo chown ${us} ${shellWord(path)} && chmod 600 ${shellWord(path)}`,
  );

/** Not parsed: a file that is not valid JSON may hold a key as well. */
const holdsKey = (text: string): boolean =>
  /"api-key"\s*:/.test(text) || /"ledger"\s*:\s*"[^"@/]*\/\/[^"@/]*:[^"]*@/.test(text);
