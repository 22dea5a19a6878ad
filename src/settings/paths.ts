import { chmodSync, type Stats, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { Env } from '../lib/env.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { findHome, makeFolder } from '../lib/fs.ts';
import { shellWord } from '../lib/text.ts';

/** The platform's folder for settings, or STENO_CONFIG_DIR. */
export function configFolder(env: Env, platform = process.platform, home = homeFolder): string {
  if (env.STENO_CONFIG_DIR) return resolve(env.STENO_CONFIG_DIR);
  if (platform === 'win32') return join(env.APPDATA || join(home(), 'AppData', 'Roaming'), 'steno', 'Config');
  return join(absolute(env.XDG_CONFIG_HOME) ?? standardFolder(platform, home, '.config'), 'steno');
}

/** The platform's folder for state such as the ledger, or STENO_STATE_DIR. */
export function stateFolder(env: Env, platform = process.platform, home = homeFolder): string {
  if (env.STENO_STATE_DIR) return resolve(env.STENO_STATE_DIR);
  if (platform === 'win32')
    return join(env.LOCALAPPDATA || join(home(), 'AppData', 'Local'), 'steno', 'Data');
  return join(absolute(env.XDG_STATE_HOME) ?? standardFolder(platform, home, '.local/state'), 'steno');
}

/** macOS keeps settings and data in one folder. */
const standardFolder = (platform: NodeJS.Platform, home: () => string, folder: string): string =>
  join(home(), platform === 'darwin' ? 'Library/Application Support' : folder);

/** The standard has a relative one ignored: it would be another folder wherever a command is run. */
const absolute = (path: string | undefined): string | undefined =>
  path && isAbsolute(path) ? path : undefined;

function homeFolder(): string {
  const home = findHome();
  if (home) return home;
  throw new StenoError('failed', 'this user has no home folder', {
    hint: 'set HOME, or both STENO_CONFIG_DIR and STENO_STATE_DIR',
  });
}

export const ledgerPath = (folder: string): string => join(folder, 'ledger.db');

/** The index of `steno search`. */
export const searchIndexPath = (folder: string): string => join(folder, 'search.db');

/** A folder of ours, by the variable that names another one in its place. */
const folderNames = { STENO_CONFIG_DIR: 'config folder', STENO_STATE_DIR: 'state folder' } as const;

export type FolderVariable = keyof typeof folderNames;

/** Makes a folder that only its owner can open. */
export function makePrivateFolder(path: string, variable: FolderVariable): void {
  makeFolder(path, 0o700, variable);
  closeFolder(path, variable);
}

/**
 * Closes a folder, if it is there, to other users; refuses one where they could put a file or a link in the place of
 * ours. The mode of a home folder is not changed. Windows has no such modes.
 */
export function closeFolder(path: string, variable: FolderVariable): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || process.getuid === undefined) return;
  if (found.mode & 0o077 && canBeNarrowed(path, found)) tryToNarrow(path);
  const refusal = folderRefusal(path, variable);
  if (refusal) throw refusal;
}

/** Why a folder can't be trusted: another user (root aside) owns it or may write to it. */
export function folderRefusal(path: string, variable: FolderVariable): StenoError | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  const us = process.getuid?.();
  if (!found || us === undefined) return undefined;
  const name = folderNames[variable];
  const word = shellWord(path);
  const other = `name another folder with ${variable}`;
  if (found.uid !== us && found.uid !== ROOT)
    return usage(
      `the ${name} ${path} belongs to another user (user id ${found.uid})`,
      `${other}, or, if it is yours, check what is in it and run: sudo chown ${us} ${word} && chmod 700 ${word}`,
    );
  if (!(found.mode & 0o022)) return undefined;
  const mode = (found.mode & 0o1777).toString(8).padStart(4, '0');
  return usage(
    `other users can write to the ${name} ${path} (mode ${mode})`,
    canBeNarrowed(path, found)
      ? `check that nobody added anything to it, then run: chmod 700 ${word}`
      : `${other}, such as one inside it`,
  );
}

const ROOT = 0;

/** Whether its mode is ours to change: not that of a folder that all users share, as /tmp is, or of a home folder. */
export const canBeNarrowed = (path: string, { uid, mode }: Stats): boolean =>
  uid === process.getuid?.() && !(mode & 0o1000) && resolve(path) !== findHome();

/** Some drives have no modes, or can't be written to: what is still open to others is refused after it. */
function tryToNarrow(path: string): void {
  try {
    chmodSync(path, 0o700);
  } catch {}
}
