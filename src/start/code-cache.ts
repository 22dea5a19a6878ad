/**
 * Speed: keeps the code that V8 compiled of our files, so that a later start need not compile them again. That saves a
 * third of a short command's time. Whoever can write there runs code as the user, so it is the user's own cache folder
 * and no other: no setting and no variable can name one, and folder and files must belong to the user alone. V8 checks
 * a cache by the length of its source alone, so the file name holds the id of the build and the version of Node. To
 * take this out, let launch.ts require './steno.js'.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { makeFolder } from '../lib/fs.ts';

const folder = cacheFolder();
const readable = folder !== undefined && isPrivate(folder);
const modules = new Map<string, { exports: unknown }>();
const scriptsWithoutCache = new Map<string, Script>();

/** Each command has a cache of its own, with the functions that it needs and no others. */
const command = process.argv.slice(2).find(isCommand) ?? '';

/** Only words that have a help page, so that mistyped words leave no caches behind. */
function isCommand(word: string): boolean {
  return /^[a-z]+$/.test(word) && existsSync(join(__dirname, 'text', `steno ${word}.txt`));
}

/** The cache folder below the home that the system knows; none where HOME names another one. */
function cacheFolder(): string | undefined {
  try {
    const home = userInfo().homedir;
    if (!home || home !== homedir()) return undefined;
    if (process.platform === 'win32') return join(home, 'AppData', 'Local', 'steno', 'Cache');
    return join(home, process.platform === 'darwin' ? 'Library/Caches' : '.cache', 'steno');
  } catch {
    // A container may run under a user id that has no name, and no home.
    return undefined;
  }
}

/** No link is followed. On Windows modes say nothing: there the profile of the user is closed to others. */
function isPrivate(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats || stats.isSymbolicLink()) return false;
  return process.platform === 'win32' || (stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0);
}

/** Loads a file of the build, and the files of the build that it requires, each with its cache if there is one. */
export function load(file: string): unknown {
  const loaded = modules.get(file);
  if (loaded) return loaded.exports;
  const module: { exports: unknown } = { exports: {} };
  modules.set(file, module);
  // All files of the build are in one folder, so that what is no part of it is found from this one as well.
  const requireFrom = (id: string): unknown =>
    id.startsWith('./') ? load(join(dirname(file), id)) : require(id);
  compile(file)(module.exports, requireFrom, module, file, dirname(file));
  return module.exports;
}

function compile(file: string): (...args: readonly unknown[]) => void {
  const text = readFileSync(file, 'utf8');
  const source = `(function (exports, require, module, __filename, __dirname) { ${text}\n});`;
  const script = new Script(source, { filename: file, cachedData: readCache(file) });
  // Undefined without a cache, true where V8 refused it.
  if (script.cachedDataRejected !== false) scriptsWithoutCache.set(file, script);
  return script.runInThisContext();
}

const cachePath = (file: string): string =>
  join(folder ?? '', `${basename(file)}-${command}-${STENO_BUILD}-${process.version}-${process.arch}`);

function readCache(file: string): Buffer | undefined {
  const path = cachePath(file);
  try {
    return readable && isPrivate(path) ? readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Saves the missing caches of a command that succeeded, when all that it needs is compiled. V8's flags must be as at
 * the start, or it refuses them later. The first run leaves empty files in their place: to make a cache takes a tenth
 * of a command's time, which many a CI job would spend for a disk that is thrown away.
 */
export function save(exitCode: number): void {
  if (exitCode !== 0 || scriptsWithoutCache.size === 0 || folder === undefined) return;
  try {
    makeFolder(folder, 0o700);
    if (!isPrivate(folder)) return;
    const isFirst = [...scriptsWithoutCache.keys()].every((file) => !existsSync(cachePath(file)));
    if (!isFirst) removeUnused(folder);
    for (const [file, script] of scriptsWithoutCache)
      writeCache(cachePath(file), isFirst ? Buffer.alloc(0) : script.createCachedData());
  } catch {
    // Without a cache the next start is slower, and nothing else.
  }
}

function writeCache(path: string, data: Buffer): void {
  const temporary = `${path}.${process.pid}`;
  // V8 does not check whether all of it is there: a power cut must not leave a name without it.
  writeFileSync(temporary, data, { flag: 'wx', mode: 0o600, flush: data.length > 0 });
  renameSync(temporary, path);
}

/** What other builds have kept, and what was begun: a process that is still at it does without a cache. */
function removeUnused(folder: string): void {
  for (const name of readdirSync(folder))
    if (!name.includes(STENO_BUILD) || /\.\d+$/.test(name)) rmSync(join(folder, name), { force: true });
}
