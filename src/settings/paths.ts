import { chmodSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Env } from '../lib/env.ts';
import { makeFolder } from '../lib/folders.ts';

/** The platform's folder for settings, or STENO_CONFIG_DIR. */
export function configFolder(env: Env, platform = process.platform): string {
  if (env.STENO_CONFIG_DIR) return resolve(env.STENO_CONFIG_DIR);
  if (platform === 'win32')
    return join(env.APPDATA || join(homedir(), 'AppData', 'Roaming'), 'steno', 'Config');
  if (platform === 'darwin') return join(homedir(), 'Library', 'Preferences', 'steno');
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'steno');
}

/** The platform's folder for state such as the ledger, or STENO_STATE_DIR. */
export function stateFolder(env: Env, platform = process.platform): string {
  if (env.STENO_STATE_DIR) return resolve(env.STENO_STATE_DIR);
  if (platform === 'win32')
    return join(env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local'), 'steno', 'Data');
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'steno');
  return join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'steno');
}

export const ledgerPath = (folder: string): string => join(folder, 'ledger.db');

/** Where listeners keep what is not in the ledger yet. */
export const journalPath = (folder: string): string => join(folder, 'journal');

/** Makes a folder that only its owner can open; the mode of a shared one (/tmp, a home folder) is not changed. */
export function makePrivateFolder(path: string): void {
  makeFolder(path, 0o700);
  const { mode, uid } = statSync(path);
  const shared = (mode & 0o1000) !== 0 || resolve(path) === homedir() || uid !== process.getuid?.();
  if (!shared && (mode & 0o077) !== 0) chmodSync(path, 0o700);
}
