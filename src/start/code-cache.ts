/**
 * Speed: keeps the code that V8 compiled of our files, so that the next start need not compile them again. That saves a
 * third of a short command's time. It is saved at the end of a command's first run, when all that the command needs is
 * compiled. V8 checks a cache by the length of its source alone, so the file name holds the id of the build and the
 * version of Node, and it is taken only from a place that no other user can write to. To take this out, let launch.ts
 * require './steno.js'.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { isRunning } from '../lib/processes.ts';
import { cacheFolder, isPrivateFolder, readPrivateFile } from './cache-folder.ts';

const folder = cacheFolder();
const readable = folder !== undefined && isPrivateFolder(folder);
const buildId = `${STENO_BUILD}-${process.version}-${process.arch}`;
const modules = new Map<string, { exports: unknown }>();
const scriptsWithoutCache = new Map<string, Script>();

/** Each command has a cache of its own, with the functions that it needs and no others. */
const command = process.argv.slice(2).find(isCommand) ?? '';

/** Only words that have a help page, so that mistyped words leave no caches behind. */
function isCommand(word: string): boolean {
  return /^[a-z]+$/.test(word) && existsSync(join(__dirname, 'text', `steno ${word}.txt`));
}

const cacheName = (file: string): string => `${basename(file)}-${command}-${buildId}`;

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

type ModuleFunction = (
  exports: unknown,
  require: unknown,
  module: unknown,
  filename: string,
  dirname: string,
) => void;

function compile(file: string): ModuleFunction {
  const source = asFunction(file);
  const cachedData = readable ? readPrivateFile(join(folder, cacheName(file))) : undefined;
  const script = new Script(source, { filename: file, cachedData });
  // Undefined without a cache, true where V8 refused it.
  if (script.cachedDataRejected !== false) scriptsWithoutCache.set(file, script);
  return script.runInThisContext() as ModuleFunction;
}

const OPENING = '(function (exports, require, module, __filename, __dirname) { ';
const END = '\n});';

/** Reads a file right between the ends of a function: to join the texts later would copy a megabyte. */
function asFunction(path: string): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.allocUnsafeSlow(OPENING.length + size + END.length);
    bytes.write(OPENING, 'latin1');
    const read = readSync(file, bytes, OPENING.length, size, 0);
    if (read !== size) throw new Error(`${path} could not be read whole`);
    bytes.write(END, OPENING.length + size, 'latin1');
    // The build makes all files ASCII.
    return bytes.toString('latin1');
  } finally {
    closeSync(file);
  }
}

/** Saves the missing caches of a command that succeeded. V8's flags must be as at the start, or it refuses them later. */
export function save(exitCode: number): void {
  if (exitCode !== 0 || scriptsWithoutCache.size === 0) return;
  if (folder === undefined || !isPrivateFolder(folder, true)) return;
  try {
    for (const [file, script] of scriptsWithoutCache) writeCache(join(folder, cacheName(file)), script);
    removeUnused(folder);
  } catch {
    // Without a cache the next start is slower, and nothing else.
  }
}

function writeCache(path: string, script: Script): void {
  const temporary = `${path}.${process.pid}`;
  rmSync(temporary, { force: true });
  // V8 does not look whether all of it is there: a power cut must not leave a name without it.
  writeFileSync(temporary, script.createCachedData(), { flag: 'wx', mode: 0o600, flush: true });
  renameSync(temporary, path);
}

/** What other builds have kept, and what a process that was killed meanwhile has left. */
function removeUnused(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, writer] = /\.(\d+)$/.exec(name) ?? [];
    const isLeft = writer !== undefined && !isRunning(Number(writer));
    if (isLeft || !name.includes(STENO_BUILD)) rmSync(join(folder, name), { force: true });
  }
}
