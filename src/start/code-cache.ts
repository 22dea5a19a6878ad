/**
 * Keeps what V8 made of our files, so that the next start need not compile them again: that saves a third of the time
 * of a command. It is kept at the end of its first run, when all that it needs is compiled. V8 trusts a cache by the
 * length of its source alone, so each is kept under the id of the build and of the node that made it. To take this
 * out, let launch.ts require './steno.js' plainly.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, wrap } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { stateFolder } from '../settings/paths.ts';

const folder = join(stateFolder(process.env), 'code');
const mark = `${STENO_BUILD}-${process.version}-${process.arch}`;
const modules = new Map<string, { exports: unknown }>();
/** Scripts whose cache is yet to be written. */
const unsaved = new Map<string, Script>();

/** Each has its own, with what it needs and no more. */
const command = process.argv.slice(2).find(isCommand) ?? '';

/** Not every word that looks like one: there must not be a cache for each mistake. */
function isCommand(word: string): boolean {
  return /^[a-z]+$/.test(word) && existsSync(join(__dirname, 'text', `steno ${word}.txt`));
}

const cacheOf = (file: string): string => join(folder, `${basename(file)}-${command}-${mark}`);

/** Loads a file of the build, and what it requires of the build, each with its cache if there is one. */
export function load(file: string): unknown {
  const known = modules.get(file);
  if (known) return known.exports;
  const module: { exports: unknown } = { exports: {} };
  modules.set(file, module);
  const outer = createRequire(file);
  const require = (id: string): unknown => (id.startsWith('./') ? load(join(dirname(file), id)) : outer(id));
  compile(file)(module.exports, require, module, file, dirname(file));
  return module.exports;
}

type Wrapped = (exports: unknown, require: unknown, module: unknown, file: string, folder: string) => void;

function compile(file: string): Wrapped {
  const source = wrap(readFileSync(file, 'utf8'));
  const script = new Script(source, { filename: file, cachedData: read(cacheOf(file)) });
  if (script.cachedDataRejected !== false) unsaved.set(file, script);
  return script.runInThisContext() as Wrapped;
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Writes the caches that are missing, at the end of a command that did all that it does. Every flag of V8 must be as
 * it was at the start, or they would be refused.
 */
export function keep(exitCode: number): void {
  if (exitCode !== 0) return;
  const scripts = [...unsaved];
  try {
    if (scripts.length) mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const [file, script] of scripts) {
      const path = cacheOf(file);
      const fresh = `${path}.${process.pid}`;
      writeFileSync(fresh, script.createCachedData(), { mode: 0o600 });
      renameSync(fresh, path);
    }
    if (scripts.length) removeOlder();
  } catch {
    // A folder that can't be written to costs time, nothing else.
  }
}

/** What an earlier build left. */
function removeOlder(): void {
  for (const name of readdirSync(folder))
    if (!name.includes(STENO_BUILD)) rmSync(join(folder, name), { force: true });
}
