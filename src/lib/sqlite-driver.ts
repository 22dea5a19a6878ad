/** The SQLite that runs here: Node's own where there is one, a package on Node 20. Both have the same interface. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { endSlowly } from './interruption.ts';

export type Value = null | number | bigint | string | Uint8Array;

export interface Statement {
  run(...values: Value[]): { changes: number | bigint };
  get(...values: Value[]): unknown;
  all(...values: Value[]): unknown[];
}

export interface SqliteConnection {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  function(name: string, options: { varargs: boolean }, work: (...values: Value[]) => Value): void;
  close(): void;
}

export type Driver = new (path: string, options?: { readOnly: boolean }) => SqliteConnection;

interface Sqlite {
  readonly DatabaseSync: Driver;
}

export async function loadDriver(): Promise<Driver> {
  // The package can't finalise statements, and until then the log of the database stays.
  endSlowly();
  const { DatabaseSync } = loadBuiltIn() ?? loadAddon() ?? (await loadPackage());
  return DatabaseSync;
}

const loadPackage = async (): Promise<Sqlite> =>
  (await import('@photostructure/sqlite')) as unknown as Sqlite;

/**
 * Speed: the package is a compiled addon, and scripts that look for it and add what is not used here. Without those,
 * `steno file` takes 0.3 times a bare start of Node less. Undefined where the addon is not in its usual place, which the
 * package may know better. To take this out, load the package always.
 */
function loadAddon(): Sqlite | undefined {
  const { platform, arch } = process;
  const libc = existsSync('/etc/alpine-release') ? 'musl' : 'glibc';
  for (const modules of moduleFolders()) {
    const folder = join(modules, '@photostructure', 'sqlite');
    if (!existsSync(folder)) continue;
    const addon = { exports: {} };
    try {
      process.dlopen(
        addon,
        join(folder, 'prebuilds', `${platform}-${arch}`, `@photostructure+sqlite.${libc}.node`),
      );
      return addon.exports as Sqlite;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/** Where Node looks for packages of this one, the nearest first. A tool that is bundled as an ES module has no __dirname. */
function moduleFolders(): string[] {
  const folders: string[] = [];
  let at = typeof __dirname === 'undefined' ? '/' : __dirname;
  for (; dirname(at) !== at; at = dirname(at)) folders.push(join(at, 'node_modules'));
  return folders;
}

/** Without Node 22's warning that its SQLite is experimental: a user can't act on it. */
function loadBuiltIn(): Sqlite | undefined {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule('node:sqlite') as Sqlite | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
