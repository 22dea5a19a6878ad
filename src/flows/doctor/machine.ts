/** What is on this machine: Node, steno, settings, folders, completions. */
import { accessSync, constants, existsSync, readFileSync, type Stats, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorMessage, systemReason } from '../../lib/errors.ts';
import { littleRoom } from '../../lib/fs.ts';
import { accountName } from '../../lib/names.ts';
import { bytesText, nearest, plural, shellWord } from '../../lib/text.ts';
import { configPath } from '../../settings/config-file.ts';
import { canBeNarrowed, folderRefusal, stateFolder } from '../../settings/paths.ts';
import { isSettingName, settingNames } from '../../settings/settings.ts';
import { type Completions, type Finding, fail, failed, ok, type Setup, skipped, warn } from './check.ts';

const OLDEST_NODE = 20;
const NEWEST_NODE = 26;

/** Even numbers are those that get long support, and that steno is tested on. */
export function checkNode(version = process.versions.node): Finding {
  const major = Number(version.split('.')[0]);
  const name = `Node ${version} on ${process.platform}-${process.arch}`;
  const hint = `install Node 20, 22, 24 or 26`;
  if (major < OLDEST_NODE) return fail(`${name} is too old for steno`, hint);
  if (major > NEWEST_NODE) return warn(`${name} is newer than the versions steno is tested with`, hint);
  return major % 2 === 0 ? ok(name) : warn(`${name} is not one of the versions steno is tested with`, hint);
}

export function checkProgram(version: string, folder: string): Finding {
  const built = statSync(join(folder, 'steno.js'), { throwIfNoEntry: false })
    ?.mtime.toISOString()
    .slice(0, 10);
  return ok(`steno ${version}${built ? `, built ${built}` : ''}, in ${folder}`);
}

// Whether a file or folder is closed to other users. Windows has no such modes.

const STICKY = 0o1000;

/** What is wrong with the owner or the mode; undefined where nothing is. */
export function accessTrouble(path: string, mode: 0o600 | 0o700): Finding | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  const us = process.getuid?.();
  if (!stats || us === undefined) return undefined;
  if (stats.uid !== us && us !== 0)
    return warn(
      `${path} belongs to another user (user id ${stats.uid})`,
      `if it is yours, run: sudo chown ${us} ${shellWord(path)}`,
    );
  // Of a shared folder, such as /tmp, the mode is not ours to change.
  if ((stats.mode & 0o077) === 0 || stats.mode & STICKY) return undefined;
  return warn(
    `other users can open ${path} (mode ${modeText(stats)})`,
    `run: chmod ${mode.toString(8)} ${shellWord(path)}`,
  );
}

const modeText = ({ mode }: Stats): string => (mode & 0o777).toString(8).padStart(4, '0');

// The config file and what is set.

/** Readable JSON, closed to others. */
export function checkConfigFile({ env, settings }: Setup): Finding {
  const path = configPath(env);
  const { configError } = settings();
  if (configError)
    return failed(configError, 'make it readable, or name another folder with STENO_CONFIG_DIR');
  if (!existsSync(path)) return ok(`${path} does not exist yet; steno login creates it`);
  const trouble = accessTrouble(path, 0o600) ?? accessTrouble(dirname(path), 0o700);
  return trouble ?? ok(`${path} (${process.getuid ? `mode ${modeText(statSync(path))}` : 'readable'})`);
}

/** The profile, where each setting comes from, and names that mean nothing. */
export function checkSettings({ env, settings: read }: Setup): Finding {
  const { settings, configError, profileError } = read();
  if (profileError) return failed(profileError);
  const bad = settings.names.flatMap((name) => errorOf(() => settings.get(name)));
  if (bad.length) return failed(bad[0]);
  const shown = settings.names
    .map((name) => settings.getUnchecked(name))
    .filter(({ value }) => value !== undefined)
    .map(({ name, source }) => `${name} from ${source}`);
  const profile = `profile ${settings.profileName} (${settings.profileSource})`;
  const unknown = configError ? [] : unknownNames(configPath(env), settings.profileName);
  const [first] = unknown;
  if (first === undefined) return ok([profile, ...shown].join('; '));
  const guess = nearest(first, settingNames);
  return warn(
    `${profile} has ${plural(unknown.length, 'setting')} that steno does not know: ${unknown.join(', ')}`,
    guess ? `did you mean ${guess}? see: steno config list` : 'remove it from the config file',
  );
}

function errorOf(work: () => unknown): unknown[] {
  try {
    work();
    return [];
  } catch (error) {
    return [error];
  }
}

/** The file was read before, so that it is valid. */
function unknownNames(path: string, profile: string): string[] {
  if (!existsSync(path)) return [];
  const { profiles = {} } = JSON.parse(readFileSync(path, 'utf8')) as {
    profiles?: Record<string, Record<string, string>>;
  };
  const own = Object.entries(profiles).find(([name]) => accountName(name) === profile)?.[1] ?? {};
  return Object.keys(own).filter((name) => !isSettingName(name));
}

/** Where a setting is missing, it may stand in a file that can't be used. */
export const notKnown = ({ settings }: Setup, what: string): Finding | undefined =>
  settings().configError ? skipped(`${what} is unknown, because the config file can't be used`) : undefined;

// The state folder and its disk.

export function checkStateFolder({ env }: Setup): Finding {
  const folder = stateFolder(env);
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
      `${nearestFolder} can't be written to: ${systemReason(error)}`,
      'make it writable, or name another folder with STENO_STATE_DIR',
    );
  }
  if (!isThere) return ok(`${folder} does not exist yet; the first order creates it`);
  const stats = statSync(folder);
  const refusal = canBeNarrowed(folder, stats) ? undefined : folderRefusal(folder, 'STENO_STATE_DIR');
  if (refusal) return failed(refusal);
  return accessTrouble(folder, 0o700) ?? ok(`${folder}${process.getuid ? ` (mode ${modeText(stats)})` : ''}`);
}

export function checkDisk({ env }: Setup): Finding {
  const folder = nearestExisting(stateFolder(env));
  const { bavail, blocks, bsize } = statfsSync(folder);
  if (blocks === 0) return skipped(`the drive of ${folder} does not report its free space`);
  const room = `${bytesText(bavail * bsize)} free for ${folder}`;
  if (littleRoom(folder) === undefined) return ok(room);
  return warn(`only ${room}`, 'free space, or remove old events: steno ledger prune --before 90d');
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

// Whether the shell of the user completes steno's words.

const INSTALL = 'install them with: steno completion install';

/** What a package manager may have installed for all users. */
const forAll: Readonly<Record<string, readonly string[]>> = {
  bash: ['share/bash-completion/completions/steno', 'etc/bash_completion.d/steno'],
  zsh: ['share/zsh/site-functions/_steno', 'share/zsh/vendor-completions/_steno'],
  fish: ['share/fish/vendor_completions.d/steno.fish'],
};

export async function checkCompletions({ completions }: Setup): Promise<Finding> {
  let found: Completions;
  try {
    found = await completions();
  } catch (error) {
    return skipped(errorMessage(error), INSTALL);
  }
  const { shell, script, state } = found;
  if (state === 'installed') return ok(`${script}, for ${shell}`);
  if (state === 'outdated') return warn(`${script} is from another version of steno`, INSTALL);
  const other = otherPlace(found);
  return other ? ok(`${other}, for ${shell}`) : warn(`none found for ${shell}`, INSTALL);
}

/** Installed for all users, or loaded by a line of the user's own. */
function otherPlace({ shell, startUpFiles }: Completions): string | undefined {
  const system = ['/usr', '/usr/local', '/opt/homebrew', '/'].flatMap((folder) =>
    (forAll[shell] ?? []).map((path) => join(folder, path)),
  );
  return system.find((path) => existsSync(path)) ?? startUpFiles.find(loadsCompletion);
}

function loadsCompletion(path: string): boolean {
  try {
    return /^[^#\n]*\bsteno completion\b/m.test(readFileSync(path, 'utf8'));
  } catch {
    return false;
  }
}
