import { chmodSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { Env } from '../lib/env.ts';
import { StenoError } from '../lib/errors.ts';
import { makeFolder } from '../lib/folders.ts';
import { findHome } from '../lib/home.ts';

/** The platform's folder for settings, or STENO_CONFIG_DIR. */
export function configFolder(env: Env, platform = process.platform, home = homeFolder): string {
  if (env.STENO_CONFIG_DIR) return resolve(env.STENO_CONFIG_DIR);
  if (platform === 'win32') return join(env.APPDATA || join(home(), 'AppData', 'Roaming'), 'steno', 'Config');
  if (platform === 'darwin') return join(home(), 'Library', 'Preferences', 'steno');
  return join(absolute(env.XDG_CONFIG_HOME) ?? join(home(), '.config'), 'steno');
}

/** The platform's folder for state such as the ledger, or STENO_STATE_DIR. */
export function stateFolder(env: Env, platform = process.platform, home = homeFolder): string {
  if (env.STENO_STATE_DIR) return resolve(env.STENO_STATE_DIR);
  if (platform === 'win32')
    return join(env.LOCALAPPDATA || join(home(), 'AppData', 'Local'), 'steno', 'Data');
  if (platform === 'darwin') return join(home(), 'Library', 'Application Support', 'steno');
  return join(absolute(env.XDG_STATE_HOME) ?? join(home(), '.local', 'state'), 'steno');
}

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

/** Where listeners keep what is not in the ledger yet. */
export const spoolPath = (folder: string): string => join(folder, 'spool.db');

/** Makes a folder that only its owner can open; the mode of a shared one (/tmp, a home folder) is not changed. */
export function makePrivateFolder(path: string, variable: string): void {
  makeFolder(path, 0o700, variable);
  const { mode, uid } = statSync(path);
  const shared = (mode & 0o1000) !== 0 || resolve(path) === findHome() || uid !== process.getuid?.();
  if (!shared && (mode & 0o077) !== 0) chmodSync(path, 0o700);
}
