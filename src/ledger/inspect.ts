/** What there is to know about a ledger itself. A view makes and changes nothing: no file, no migration, no row. */
import { statSync } from 'node:fs';
import { accountName } from '../lib/names.ts';
import { type Database, openUntouched } from '../lib/sqlite.ts';
import { dumpTables } from './dump-tables.ts';
import { type Moved, readMoved } from './moved.ts';
import { OpenAttempts } from './open-attempts.ts';
import { Runs } from './runs.ts';
import { backupsOf, restoreHint } from './stores/backups.ts';
import { migrations } from './stores/schema.ts';
import { SqliteStore } from './stores/sqlite.ts';
import type { Hide, TableContext } from './table.ts';

/** What the store says of itself. */
export interface StoreStatus {
  readonly store: 'sqlite' | 'postgres';
  /** False where there are no tables yet. */
  readonly made: boolean;
  /** The version of the server; empty where there is none. */
  readonly server: string;
  readonly bytes: number;
  /** Names of the migrations that were done, in their order. */
  readonly migrations: readonly string[];
  /** Those that this steno knows and the ledger lacks. */
  readonly missing: readonly string[];
  /** How many migrations the oldest steno that may work knows, and how many this one does. */
  readonly minClient: number;
  readonly client: number;
  /** Which services the accounts of a shared ledger belong to. */
  readonly accounts: ReadonlyArray<{ readonly name: string; readonly baseUrl: string }>;
}

/** What the tables say of this profile or account; only of a ledger that has all of them. */
export interface LedgerFacts {
  /** Attempts without a known end. */
  readonly unclear: number;
  readonly beingSent: number;
  readonly moved: Moved | undefined;
  /** How many listeners run. */
  readonly listeners: number;
}

export interface LedgerStatus extends StoreStatus, LedgerFacts {
  /** By table, of all profiles or accounts. */
  readonly rows: Readonly<Record<string, number>>;
  readonly backups: ReadonlyArray<{ readonly path: string; readonly bytes: number }>;
}

/** A ledger that is open for looking. */
export interface LedgerView {
  readonly status: StoreStatus;
  /** For its tables. */
  readonly context: TableContext;
  /** Checks the file of a local one; absent where that would take long. */
  readonly findDamage?: (() => string | undefined) | undefined;
  readonly close: () => Promise<void>;
}

export const mayWork = ({ minClient, client }: StoreStatus): boolean => minClient <= client;

/** Whether its tables can be asked. */
export const isUsable = (status: StoreStatus): boolean =>
  status.made && status.missing.length === 0 && mayWork(status);

export async function factsOf(context: TableContext): Promise<LedgerFacts> {
  const attempts = new OpenAttempts(context);
  return {
    unclear: await attempts.countUnclear(),
    beingSent: await attempts.countBeingSent(),
    moved: await readMoved(context),
    listeners: (await new Runs(context).running()).length,
  };
}

/** Of a ledger without tables. */
const NO_FACTS = {
  ...{ unclear: 0, beingSent: 0, moved: undefined, listeners: 0, rows: {}, backups: [] },
} as const;

/** Closes the view. */
export async function statusOf({ status, context, close }: LedgerView): Promise<LedgerStatus> {
  try {
    if (!isUsable(status)) return { ...status, ...NO_FACTS };
    const rows: Record<string, number> = {};
    for (const { name } of dumpTables)
      rows[name] = (await context.db.get<{ n: number }>(`SELECT count(*) AS n FROM ${name}`))?.n ?? 0;
    return { ...status, ...(await factsOf(context)), rows, backups: [] };
  } finally {
    await close();
  }
}

/** Of a local ledger, which is brought up to date when it is opened. None is made. */
export async function statusOfFile(
  path: string,
  profile: string,
  hide: Hide,
  signal: AbortSignal,
): Promise<LedgerStatus> {
  const backups = backupsOf(path).map((backup) => ({ path: backup, bytes: sizeOf(backup) }));
  if (statSync(path, { throwIfNoEntry: false })) await (await SqliteStore.open(path, signal)).close();
  const view = await viewFile(path, profile, hide);
  return { ...(view ? await statusOf(view) : { ...fileStatus([]), ...NO_FACTS }), backups };
}

/** A check reads the whole file, and nothing else is done meanwhile. */
const MAX_CHECKED_BYTES = 256 * 1024 * 1024;

/** Undefined where there is none. */
export async function viewFile(path: string, profile: string, hide: Hide): Promise<LedgerView | undefined> {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) return undefined;
  const database = await openUntouched(path, () => restoreHint(path));
  try {
    const rows = database.all<{ name: string }>('SELECT name FROM migrations ORDER BY name');
    return {
      status: { ...fileStatus(rows.map(({ name }) => name)), bytes: size + sizeOf(`${path}-wal`) },
      context: { db: new SqliteStore(database), profile: accountName(profile), hide },
      findDamage: size > MAX_CHECKED_BYTES ? undefined : () => damageOf(database),
      close: async () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function fileStatus(done: readonly string[]): StoreStatus {
  const names = migrations.map(({ name }) => name);
  return {
    ...{ store: 'sqlite', made: done.length > 0, server: '', bytes: 0, migrations: done, accounts: [] },
    missing: names.filter((name) => !done.includes(name)),
    ...{ minClient: names.length, client: names.length },
  };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function damageOf(database: Database): string | undefined {
  const found = database.get<{ quick_check: string }>('PRAGMA quick_check(1)')?.quick_check;
  return found === 'ok' ? undefined : found;
}
