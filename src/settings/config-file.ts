/** The file with the profiles: conf writes it, one process at a time, and what a killed process left is removed. */
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Env } from '../lib/env.ts';
import { errorCode, errorMessage, StenoError, usage } from '../lib/errors.ts';
import { tryFileLock, withFileLock } from '../lib/file-lock.ts';
import { writtenFile } from '../lib/whole-file.ts';
import { checkAccess, checkFolderAccess } from './config-access.ts';
import { configFolder, makePrivateFolder } from './paths.ts';

export const configPath = (env: Env): string => join(configFolder(env), 'config.json');

/**
 * The text of the file; undefined where there is none. Speed: read without conf, which takes one and a half starts of
 * Node to load; only writing needs it.
 */
export function readConfig(env: Env): string | undefined {
  removeLeftovers(env);
  return readText(configPath(env));
}

/** The same, and nothing is removed. */
export const lookAtConfig = (env: Env): string | undefined => readText(configPath(env));

/** Replaces the profiles by what `change` makes of the text, and keeps everything else in the file as it was. */
export async function changeProfiles(
  env: Env,
  signal: AbortSignal,
  change: (text: string | undefined) => object,
): Promise<void> {
  const { default: Conf } = await import('conf');
  try {
    makePrivateFolder(configFolder(env), 'STENO_CONFIG_DIR');
    const file = writtenFile(configPath(env));
    await withFileLock(lockOf(file), signal, () => {
      removeTemporaryFiles(file);
      const profiles = change(readText(file));
      const conf = new Conf({
        cwd: dirname(file),
        configName: basename(file),
        fileExtension: '',
        configFileMode: 0o600,
        accessPropertiesByDotNotation: false,
        projectName: 'steno',
      });
      withoutSnap(() => conf.set('profiles', profiles));
    });
  } catch (error) {
    throw error instanceof StenoError ? error : writeError(env, error);
  }
}

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
    throw usage(`can't read the config file ${path}: ${errorMessage(error)}`);
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
  const reason = unwritable ? `its folder can't be written to (${code})` : errorMessage(error);
  return new StenoError('failed', `can't write the config file ${configPath(env)}: ${reason}`, {
    hint: unwritable ? 'make the folder writable, or name another one with STENO_CONFIG_DIR' : undefined,
    cause: error,
  });
}
