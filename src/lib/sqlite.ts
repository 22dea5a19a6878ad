/** Opens a SQLite database, applies its migrations, and makes its errors readable. */
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { untilFree } from './backoff.ts';
import { errorMessage, StenoError, systemReason } from './errors.ts';
import { makeFolder, whyUnwritable } from './fs.ts';
import {
  type Driver,
  loadDriver,
  type SqliteConnection,
  type Statement,
  type Value,
} from './sqlite-driver.ts';
import {
  CREATE_MIGRATIONS,
  closeToOthers,
  fileIdentity,
  makeIfMissing,
  refuseDanglingLinks,
  refuseEmptied,
  restoreHint,
  sizeOf,
} from './sqlite-file.ts';
import { withoutNul } from './text.ts';
import { hasOwnClock, nowMs } from './time.ts';

/** SQLite's result codes. */
const BUSY = 5;
const LOCKED = 6;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANT_OPEN = 14;
const TOO_BIG = 18;
const CONSTRAINT = 19;
const MISMATCH = 20;
const NOT_A_DATABASE = 26;

export function readableError(path: string, error: unknown, hintIfDamaged?: () => string): unknown {
  if (error instanceof StenoError) return error;
  const text = errorMessage(error);
  if (isCorrupt(error)) {
    return new StenoError('failed', `${path} is damaged: ${text}`, {
      hint: hintIfDamaged?.() ?? 'nothing was written to it: move it away to start over',
      cause: error,
    });
  }
  if (isLocked(error)) {
    return new StenoError('failed', `${path} is locked by another process`, {
      hint: 'try again in a moment',
      cause: error,
    });
  }
  return diskError(path, error) ?? new StenoError('failed', `${path}: ${text}`, { cause: error });
}

/** SQLite's own text for these says nothing that a user can act on: 'disk I/O error'. */
function diskError(path: string, cause: unknown): StenoError | undefined {
  const why = hasCode(cause, READ_ONLY, IO_ERROR, FULL, CANT_OPEN) ? whyUnwritable(path) : undefined;
  if (!why) return undefined;
  // Never a new, empty folder: the ledger that is there knows what was ordered.
  const hint =
    why.code === 'ENOSPC'
      ? 'free space on it'
      : 'make its folder writable, or copy the folder elsewhere and set STENO_STATE_DIR to the copy';
  return new StenoError('failed', `can't write ${path}: ${systemReason(why)}`, { hint, cause });
}

/** The file is not what SQLite has written, or a part of it can't be read. */
export const isDamaged = (error: unknown): boolean => hasCode(error, CORRUPT, NOT_A_DATABASE, IO_ERROR);

/** Whether the file itself is damaged: not a full or failing disk. */
export const isCorrupt = (error: unknown): boolean => hasCode(error, CORRUPT, NOT_A_DATABASE);

/** The values of a statement are not such as the table takes. */
export const isRefusedValue = (error: unknown): boolean => hasCode(error, CONSTRAINT, MISMATCH, TOO_BIG);

export const isLocked = (error: unknown): boolean => hasCode(error, BUSY, LOCKED);

const hasCode = (error: unknown, ...codes: number[]): boolean =>
  codes.includes(primaryCode(error instanceof StenoError ? error.cause : error) ?? Number.NaN);

/** The low byte of SQLite's code is the kind of error; the rest only refines it. */
function primaryCode(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : codesByText.get(errorMessage(error));
}

/** The driver of Node 20 leaves the code out where reading fails after the first rows; the texts are SQLite's own. */
const codesByText: ReadonlyMap<string, number> = new Map([
  ['database is locked', BUSY],
  ['disk I/O error', IO_ERROR],
  ['unable to open database file', CANT_OPEN],
  ['database disk image is malformed', CORRUPT],
  ['file is not a database', NOT_A_DATABASE],
]);

export type { Value };

export interface Migration {
  readonly name: string;
  readonly sql: string;
}

export interface OpenOptions {
  /** What to do about a file that was emptied, or that has no tables of ours. */
  readonly hintIfDamaged?: (() => string) | undefined;
  /** Called where there is no file; what it throws keeps a new one from being made. */
  readonly beforeMaking?: () => void;
  /** Ends the waiting for another process. */
  readonly signal?: AbortSignal | undefined;
}

const BUSY_TIMEOUT_MS = 10_000;
/** Another process may be migrating a large database. */
const MIGRATION_TIMEOUT_MS = 120_000;

export class Database {
  readonly path: string;
  #connection: SqliteConnection;
  /** Which file was opened. */
  #file: string;
  readonly #hintIfDamaged: (() => string) | undefined;
  readonly #statements = new Map<string, Statement>();
  #syncsEveryCommit = false;
  #inTransaction = false;
  #isOpen = true;

  constructor(path: string, connection: SqliteConnection, hintIfDamaged?: () => string) {
    this.path = path;
    this.#hintIfDamaged = hintIfDamaged;
    this.#connection = connection;
    this.#file = fileIdentity(path);
  }

  /** Runs statements that take no values. */
  exec(sql: string): void {
    this.#withReadableErrors(() => this.#connection.exec(sql));
  }

  /** Runs one statement; gives the number of rows that it changed. */
  run(sql: string, ...values: Value[]): number {
    return this.#withReadableErrors(() => Number(this.#prepare(sql).run(...kept(values)).changes));
  }

  get<Row>(sql: string, ...values: Value[]): Row | undefined {
    return this.#withReadableErrors(() => this.#prepare(sql).get(...kept(values)) as Row | undefined);
  }

  all<Row>(sql: string, ...values: Value[]): Row[] {
    return this.#withReadableErrors(() => this.#prepare(sql).all(...kept(values)) as Row[]);
  }

  /** Does all of the work or none of it; no other process writes meanwhile. Within another one it is a part of that. */
  transaction<Result>(work: () => Result): Result {
    if (this.#inTransaction) return work();
    this.run('BEGIN IMMEDIATE');
    this.#inTransaction = true;
    try {
      const result = work();
      this.run('COMMIT');
      return result;
    } catch (error) {
      this.rollBack();
      throw error;
    } finally {
      this.#inTransaction = false;
    }
  }

  /** Whether the commits that follow are synced to disk: then a power cut does not undo them. Not in a transaction. */
  setDurable(durable: boolean): void {
    if (!this.#syncsEveryCommit) this.exec(`PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`);
  }

  /** From now on every commit is durable. */
  syncEveryCommit(): void {
    // Without a write-ahead log, FULL could leave the journal behind in a power cut, which undoes the last commit.
    this.exec('PRAGMA synchronous = EXTRA');
    this.#syncsEveryCommit = true;
  }

  /** How long a statement waits, and blocks the process, while another process holds the database. */
  setBusyTimeout(milliseconds: number): void {
    this.exec(`PRAGMA busy_timeout = ${milliseconds}`);
  }

  /** Whether its file is still at its path: one that was deleted or replaced takes writes that are lost. */
  isInPlace(): boolean {
    return this.#file === fileIdentity(this.path);
  }

  /** Goes on with the connection of another one, which is opened for this once its own is closed. */
  async replaceBy(open: () => Promise<Database>): Promise<void> {
    if (this.#isOpen) this.close();
    const other = await open();
    this.#isOpen = true;
    this.#connection = other.#connection;
    this.#file = other.#file;
    this.#syncsEveryCommit = other.#syncsEveryCommit;
  }

  close(): void {
    this.#isOpen = false;
    this.#statements.clear();
    this.#connection.close();
  }

  #prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  rollBack(): void {
    try {
      this.#connection.exec('ROLLBACK');
    } catch {
      // After some errors SQLite has rolled back by itself, and refuses this.
    }
  }

  #withReadableErrors<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw readableError(this.path, error, this.#hintIfDamaged);
    }
  }
}

/** Opens the database at `path` (or `:memory:`), creates it if it does not exist, and applies missing migrations. */
export async function openDatabase(
  path: string,
  migrations: readonly Migration[],
  options: OpenOptions = {},
): Promise<Database> {
  const Driver = await loadDriver();
  try {
    if (path === ':memory:') return await open(Driver, path, migrations);
    makeFolder(dirname(path), 0o700, 'STENO_STATE_DIR');
    refuseDanglingLinks(path);
    refuseEmptied(path, options.hintIfDamaged);
    if (sizeOf(path) === undefined) options.beforeMaking?.();
    makeIfMissing(Driver, path, migrations);
    closeToOthers(path);
    return await open(Driver, path, migrations, options);
  } catch (error) {
    throw readableError(path, error, options.hintIfDamaged);
  }
}

async function open(
  Driver: Driver,
  path: string,
  migrations: readonly Migration[],
  { hintIfDamaged, signal }: OpenOptions = {},
): Promise<Database> {
  const connection = new Driver(path);
  const database = new Database(path, connection, hintIfDamaged);
  try {
    if (hasOwnClock()) setTime(connection);
    database.exec('PRAGMA foreign_keys = ON');
    const prepare = (): void => {
      // Before anything that writes to the file.
      if (path !== ':memory:') refuseForeign(database, hintIfDamaged);
      database.exec('PRAGMA journal_mode = WAL');
      setSync(database);
      missingMigrations(database, migrations);
    };
    // The busy timeout would block, and does not cover `journal_mode`: two processes may open a new database at once.
    await untilFree(prepare, { limitMs: BUSY_TIMEOUT_MS, mayPass: isLocked, signal });
    database.setBusyTimeout(BUSY_TIMEOUT_MS);
    migrate(database, migrations);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Statements ask for the time in one way only, so the format need not be looked at. */
const setTime = (connection: SqliteConnection): void =>
  connection.function('strftime', { varargs: true }, () => new Date(nowMs()).toISOString());

/** A database of this process alone, in a temporary file that SQLite removes. */
export async function openScratch(): Promise<Database> {
  const Driver = await loadDriver();
  return new Database('', new Driver(''));
}

/** Opens a database read-only, without applying migrations. */
export async function openForReading(path: string, migrations: readonly Migration[]): Promise<Database> {
  const Driver = await loadDriver();
  const database = new Database(path, new Driver(path, { readOnly: true }));
  database.setBusyTimeout(BUSY_TIMEOUT_MS);
  missingMigrations(database, migrations);
  return database;
}

/** Opens a database that is damaged, to read what is left of it: nothing is checked, and nothing is written. */
export async function openDamaged(path: string, hintIfDamaged?: () => string): Promise<Database> {
  const Driver = await loadDriver();
  try {
    refuseEmptied(path, hintIfDamaged);
    return new Database(path, new Driver(path, { readOnly: true }), hintIfDamaged);
  } catch (error) {
    throw readableError(path, error, hintIfDamaged);
  }
}

/**
 * Opens a database to look at it: no file is made beside it. SQLite would leave a log and an index of it behind, unless it
 * is told that nothing changes, which holds while there is no log, nor a journal of a writer.
 */
export async function openUntouched(path: string, hintIfDamaged?: () => string): Promise<Database> {
  const Driver = await loadDriver();
  try {
    refuseEmptied(path, hintIfDamaged);
    const database = new Database(path, openReadOnly(Driver, path), hintIfDamaged);
    refuseForeign(database, hintIfDamaged);
    return database;
  } catch (error) {
    throw readableError(path, error, hintIfDamaged);
  }
}

function openReadOnly(Driver: Driver, path: string): SqliteConnection {
  if (!sizeOf(`${path}-wal`) && !sizeOf(`${path}-journal`)) {
    try {
      const url = pathToFileURL(path);
      url.search = 'immutable=1';
      const connection = new Driver(url.href, { readOnly: true });
      connection.exec('SELECT 1 FROM sqlite_schema');
      return connection;
    } catch {
      // A SQLite that takes no URL; or what is wrong with the file is found again below.
    }
  }
  return new Driver(path, { readOnly: true });
}

/**
 * Set here because the drivers' defaults differ. NORMAL syncs only at checkpoints: right for what can be fetched or
 * done again (states of files, downloads, the sandbox). Attempts to order use `durable`; the connection of a listener,
 * which keeps events and its webhook, uses `syncEveryCommit`.
 */
function setSync(database: Database): void {
  // On macOS a plain fsync stops at the drive's cache.
  database.exec('PRAGMA fullfsync = ON');
  const mode = database.get<{ journal_mode: string }>('PRAGMA journal_mode')?.journal_mode;
  // Some network drives allow no write-ahead log, and without one NORMAL can damage the file in a power cut.
  if (mode === 'wal') database.exec('PRAGMA synchronous = NORMAL');
  else database.syncEveryCommit();
}

function migrate(database: Database, migrations: readonly Migration[]): void {
  if (missingMigrations(database, migrations).length === 0) return;
  database.setBusyTimeout(MIGRATION_TIMEOUT_MS);
  database.transaction(() => {
    database.exec(CREATE_MIGRATIONS);
    // Asked again: another process may have migrated it while this one waited.
    for (const { name, sql } of missingMigrations(database, migrations)) {
      database.exec(sql);
      database.run('INSERT INTO migrations (name, at) VALUES (?, ?)', name, new Date().toISOString());
    }
  });
  database.setBusyTimeout(BUSY_TIMEOUT_MS);
}

/** A file gets its name with all its tables: one without them lost them, or is not ours. */
function refuseForeign(database: Database, hint = restoreHint): void {
  if (appliedMigrations(database).length) return;
  throw new StenoError('failed', `${database.path} contains no tables of steno`, { hint: hint() });
}

function appliedMigrations(database: Database): readonly string[] {
  if (!database.get("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'")) return [];
  return database.all<{ name: string }>('SELECT name FROM migrations').map(({ name }) => name);
}

/** The migrations that a database lacks. One that it has and this version does not know is an error. */
function missingMigrations(database: Database, migrations: readonly Migration[]): readonly Migration[] {
  const applied = appliedMigrations(database);
  const unknown = applied.find((name) => !migrations.some((each) => each.name === name));
  if (unknown !== undefined && !applied.some((name) => migrations.some((each) => each.name === name)))
    throw earlierError(database.path);
  if (unknown !== undefined) {
    throw new StenoError('failed', `${database.path} was written by a newer steno (it has '${unknown}')`, {
      hint: 'update steno, or choose another folder with STENO_STATE_DIR',
    });
  }
  return migrations.filter(({ name }) => !applied.includes(name));
}

/** Tables that this version does not begin with are those of a build before 1.0.0. */
export const earlierError = (place: string): StenoError =>
  new StenoError('failed', `${place} was written by an earlier build of steno, and was left as it is`, {
    hint: 'put it aside and start a new one, or use the build that wrote it',
  });

/** Few have a NUL: the list is made anew only for them. */
const kept = (values: Value[]): Value[] =>
  values.some((value) => typeof value === 'string' && value.includes('\0')) ? values.map(withoutNul) : values;
