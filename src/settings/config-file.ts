/** The file with the profiles: conf writes it, one process at a time, and what a killed process left is removed. */
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Env } from '../lib/env.ts';
import { errorCode, StenoError, systemReason, usage } from '../lib/errors.ts';
import { tryFileLock, withFileLock } from '../lib/fs.ts';
import { accountName } from '../lib/names.ts';
import { nearest, shellWord } from '../lib/text.ts';
import { writtenFile } from '../lib/whole-file.ts';
import { configFolder, folderRefusal, makePrivateFolder } from './paths.ts';

const ROOT = 0;

/**
 * Refuses a file that another user could have written, and one with a key that others can read: it holds keys, and
 * commands that are run. Not on Windows.
 */
function checkAccess(path: string, { uid, mode }: Stats, text: string): void {
  const us = process.getuid?.();
  if (us === undefined) return;
  if (uid !== us && uid !== ROOT) throw foreign(path, uid, us);
  const octal = (mode & 0o777).toString(8).padStart(4, '0');
  if (mode & 0o022)
    throw usage(
      `other users can write to the config file ${path} (mode ${octal})`,
      `check that nobody added anything to it, then run: chmod 600 ${shellWord(path)}`,
    );
  // The key in a file of root is for those who are let read it: so containers mount it.
  if (uid === us && mode & 0o044 && holdsKey(text))
    throw usage(
      `the config file ${path} contains a key, but other users can read it (mode ${octal})`,
      `run: chmod 600 ${shellWord(path)}`,
    );
}

/**
 * Refuses a folder of another user, and one where any user could replace a file with a key or its command; login narrows
 * it for any other. In a folder like /tmp only the owner of a file may replace it.
 */
function checkFolderAccess(folder: string, text: string): void {
  const { mode, uid } = statSync(folder);
  const isForeign = uid !== process.getuid?.() && uid !== ROOT;
  const isOpen = (mode & 0o1002) === 0o0002 && /"api-key/.test(text);
  const refusal = isForeign || isOpen ? folderRefusal(folder, 'STENO_CONFIG_DIR') : undefined;
  if (refusal) throw refusal;
}

const foreign = (path: string, owner: number, us: number): StenoError =>
  usage(
    `the config file ${path} belongs to another user (user id ${owner})`,
    `check what is in it, then run: sudo chown ${us} ${shellWord(path)} && chmod 600 ${shellWord(path)}`,
  );

/** Not parsed: a file that is not valid JSON may hold a key as well. */
const holdsKey = (text: string): boolean =>
  /"api-key"\s*:/.test(text) || /"ledger"\s*:\s*"[^"@/]*\/\/[^"@/]*:[^"]*@/.test(text);

export const configPath = (env: Env): string => join(configFolder(env), 'config.json');

function readText(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const text = readFileSync(file, 'utf8');
    // Of the file that was read: another one may have its name by now.
    checkAccess(path, fstatSync(file), text);
    checkFolderAccess(dirname(path), text);
    return text;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (error instanceof StenoError) throw error;
    throw usage(`can't read the config file ${path}: ${systemReason(error)}`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const lockOf = (file: string): string => `${file}.lock`;

/** Removes what conf was writing when its process was killed: it holds keys. Only for the holder of the lock. */
function removeTemporaryFiles(file: string): void {
  for (const name of namesBeside(file)) {
    if (isTemporary(file, name)) rmSync(join(dirname(file), name), { force: true });
  }
}

/** Removes what a killed process left. Where the lock is held, its holder is still writing. */
function removeLeftovers(env: Env): void {
  try {
    const file = writtenFile(configPath(env));
    const lock = basename(lockOf(file));
    if (!namesBeside(file).some((name) => name.startsWith(lock) || isTemporary(file, name))) return;
    const release = tryFileLock(lockOf(file));
    if (!release) return;
    removeTemporaryFiles(file);
    release();
  } catch {
    // There is no folder, or it can't be written to: that is for the one who writes to say.
  }
}

const namesBeside = (file: string): string[] =>
  readdirSync(dirname(file)).filter((name) => name.startsWith(basename(file)));

/** conf writes to a file of such a name first, and renames it then. */
const isTemporary = (file: string, name: string): boolean =>
  /^\.tmp-\d{10}[\da-f]{6}$/.test(name.slice(basename(file).length));

/** In a terminal inside a snap, conf would write in place, and a kill would leave half a file. */
function withoutSnap(work: () => void): void {
  const { SNAP } = process.env;
  delete process.env.SNAP;
  try {
    work();
  } finally {
    if (SNAP !== undefined) process.env.SNAP = SNAP;
  }
}

function writeError(env: Env, error: unknown): StenoError {
  const code = errorCode(error) ?? '';
  const unwritable = ['EACCES', 'EPERM', 'EROFS'].includes(code);
  const reason = unwritable ? `its folder is not writable (${code})` : systemReason(error);
  return new StenoError('failed', `can't write the config file ${configPath(env)}: ${reason}`, {
    hint: unwritable ? 'make the folder writable, or name another one with STENO_CONFIG_DIR' : undefined,
    cause: error,
  });
}

export type Profile = Readonly<Record<string, string>>;
export type Profiles = Readonly<Record<string, Profile>>;

/** Speed: read without conf, which takes one and a half starts of Node to load; only writing needs it. */
export function readProfiles(env: Env): Profiles {
  removeLeftovers(env);
  return lookAtProfiles(env);
}

/** The same, and what a killed process left beside the file stays. */
export const lookAtProfiles = (env: Env): Profiles =>
  parseProfiles(configPath(env), readText(configPath(env)));

/**
 * Changes one profile, and keeps everything else in the file as it was; a setting that is undefined in `change` is
 * removed.
 */
export async function writeProfile(
  env: Env,
  name: string,
  change: Record<string, string | undefined>,
  signal: AbortSignal,
): Promise<void> {
  const { default: Conf } = await import('conf');
  try {
    makePrivateFolder(configFolder(env), 'STENO_CONFIG_DIR');
    const file = writtenFile(configPath(env));
    await withFileLock(lockOf(file), signal, () => {
      removeTemporaryFiles(file);
      const profiles = parseProfiles(configPath(env), readText(file));
      const kept = Object.entries({ ...profiles[name], ...change }).filter(
        ([, value]) => value !== undefined,
      );
      const conf = new Conf({
        cwd: dirname(file),
        configName: basename(file),
        fileExtension: '',
        configFileMode: 0o600,
        accessPropertiesByDotNotation: false,
        projectName: 'steno',
      });
      withoutSnap(() => conf.set('profiles', { ...profiles, [name]: Object.fromEntries(kept) }));
    });
  } catch (error) {
    throw error instanceof StenoError ? error : writeError(env, error);
  }
}

export function checkProfileName(name: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
    throw usage(`'${name}' is not a profile name`, 'use letters, digits, dots, dashes and underscores');
  }
  // The ledger folds case, and the rows of the sandbox are cleared with it.
  if (name !== 'sandbox' && name.toLowerCase() === 'sandbox')
    throw usage(`'${name}' is not a profile name`, 'write the sandbox profile as: sandbox');
}

export function unknownProfile(name: string, profiles: Profiles): StenoError {
  const names = Object.keys(profiles);
  const guess = nearest(name, [...names, 'sandbox']);
  const make = `create it with: steno login --profile ${name}`;
  const list = names.length ? `known profiles: ${[...names].sort().join(', ')}; ${make}` : make;
  return usage(`there is no profile '${name}'`, guess ? `did you mean ${guess}? ${list}` : list);
}

function parseProfiles(path: string, text: string | undefined): Profiles {
  if (text === undefined) return {};
  const invalid = (what: string): StenoError =>
    usage(`the config file ${path} ${what}`, 'edit it or move it away; it was not changed');
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw invalid('is not valid JSON');
  }
  if (!isRecord(data)) throw invalid('does not contain a JSON object');
  const { profiles = {} } = data;
  if (!isRecord(profiles)) throw invalid("has 'profiles', which is not an object");
  for (const [name, profile] of Object.entries(profiles)) {
    if (!isRecord(profile) || Object.values(profile).some((value) => typeof value !== 'string')) {
      throw invalid(`has a profile '${name}', which is not an object of strings`);
    }
  }
  return foldNames(profiles as Profiles, invalid);
}

/** By the one spelling of their names. */
function foldNames(profiles: Profiles, invalid: (what: string) => StenoError): Profiles {
  const folded = new Map<string, Profile>();
  for (const [name, profile] of Object.entries(profiles)) {
    if (folded.has(accountName(name)))
      throw invalid(
        `has several profiles '${accountName(name)}': names that differ only in case are the same`,
      );
    folded.set(accountName(name), profile);
  }
  return Object.fromEntries(folded);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
