/** What there is to know about a ledger itself. A view makes and changes nothing: no file, no migration, no row. */
import { statSync } from 'node:fs';
import { accountName } from '../lib/names.ts';
import { type Database, openUntouched } from '../lib/sqlite.ts';
import { Budgets, type KeptBudget } from './budgets.ts';
import { type Moved, readMoved } from './moved.ts';
import { OpenAttempts } from './open-attempts.ts';
import { Runs } from './runs.ts';
import { backupsOf, rescueHint } from './stores/backups.ts';
import { migrations } from './stores/schema.ts';
import { SqliteStore } from './stores/sqlite.ts';
import { dumpTables, type Hide, type TableContext } from './table.ts';
import { type Loan, WebhookLoans } from './webhook-loans.ts';

export interface AccountUse {
  readonly name: string;
  readonly baseUrl: string;
}

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
  readonly accounts: readonly AccountUse[];
}

export interface Backup {
  readonly path: string;
  readonly bytes: number;
}

export interface LedgerStatus extends StoreStatus {
  /** By table, of all profiles or accounts. */
  readonly rows: Readonly<Record<string, number>>;
  /** Attempts of this profile or account without a known end. */
  readonly unclear: number;
  readonly beingSent: number;
  readonly moved: Moved | undefined;
  readonly backups: readonly Backup[];
}

export const mayWork = ({ minClient, client }: StoreStatus): boolean => minClient <= client;

/** Of a local ledger, which is brought up to date when it is opened. None is made. */
export async function statusOfFile(
  path: string,
  profile: string,
  hide: Hide,
  signal: AbortSignal,
): Promise<LedgerStatus> {
  const names = migrations.map(({ name }) => name);
  const own: StoreStatus = {
    ...{ store: 'sqlite', made: false, server: '', bytes: 0, migrations: [], missing: names },
    ...{ minClient: names.length, client: names.length, accounts: [] },
  };
  const backups = backupsOf(path).map((backup) => ({ path: backup, bytes: sizeOf(backup) }));
  if (!statSync(path, { throwIfNoEntry: false })) return { ...own, ...nothing, backups };
  const db = await SqliteStore.open(path, signal);
  try {
    const rows = await db.all<{ name: string }>('SELECT name FROM migrations ORDER BY name');
    const done = rows.map(({ name }) => name);
    return {
      ...own,
      made: true,
      bytes: sizeOf(path) + sizeOf(`${path}-wal`),
      migrations: done,
      missing: names.filter((name) => !done.includes(name)),
      ...(await statusOfTables({ db, profile: accountName(profile), hide })),
      backups,
    };
  } finally {
    await db.close();
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Of a ledger without tables. */
export const nothing = { rows: {}, unclear: 0, beingSent: 0, moved: undefined, backups: [] } as const;

export async function statusOfTables(
  context: TableContext,
): Promise<Pick<LedgerStatus, 'rows' | 'unclear' | 'beingSent' | 'moved'>> {
  const rows: Record<string, number> = {};
  for (const { name } of dumpTables)
    rows[name] = (await context.db.get<{ n: number }>(`SELECT count(*) AS n FROM ${name}`))?.n ?? 0;
  const attempts = new OpenAttempts(context);
  return {
    rows,
    unclear: await attempts.countUnclear(),
    beingSent: await attempts.countBeingSent(),
    moved: await readMoved(context),
  };
}

/** What its tables say; only of a ledger that has all of them. */
export interface LedgerFacts {
  readonly unclear: number;
  readonly moved: Moved | undefined;
  /** How many listeners of this profile or account run. */
  readonly listeners: number;
  readonly loans: readonly Loan[];
}

/** A ledger that is open for looking. */
export interface LedgerView {
  /** The last migration that was done. */
  readonly version: string;
  /** Those that this steno knows and it lacks. */
  readonly missing: readonly string[];
  readonly bytes: number;
  /** What a check of the file found; undefined where it was not checked. */
  readonly damage?: string | undefined;
  readonly isChecked: boolean;
  /** Of a shared one. */
  readonly store?: StoreStatus;
  readonly facts: () => Promise<LedgerFacts>;
  /** The one that all who use this ledger share. */
  readonly budget: () => Promise<KeptBudget | undefined>;
  /** The number of the latest event. */
  readonly latestEvent: () => Promise<number>;
  /** The first event of a type after a number. */
  readonly eventAfter: (n: number, type: string) => Promise<number | undefined>;
  readonly close: () => Promise<void>;
}

/** A check reads the whole file, and nothing else is done meanwhile. */
const MAX_CHECKED_BYTES = 256 * 1024 * 1024;

/** Undefined where there is none. */
export async function viewFile(
  path: string,
  profile: string,
  hide: Hide,
  { checks = true } = {},
): Promise<LedgerView | undefined> {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) return undefined;
  const database = await openUntouched(path, () => rescueHint(path));
  try {
    const names = migrations.map(({ name }) => name);
    const done = database
      .all<{ name: string }>('SELECT name FROM migrations ORDER BY name')
      .map(({ name }) => name);
    const isChecked = checks && size <= MAX_CHECKED_BYTES;
    return {
      version: done.at(-1) ?? '',
      missing: names.filter((name) => !done.includes(name)),
      bytes: size + (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0),
      isChecked,
      damage: isChecked ? damageOf(database) : undefined,
      ...questions({ db: new SqliteStore(database), profile: accountName(profile), hide }),
      close: async () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function damageOf(database: Database): string | undefined {
  const found = database.get<{ quick_check: string }>('PRAGMA quick_check(1)')?.quick_check;
  return found === 'ok' ? undefined : found;
}

/** What can be asked of the tables of either kind of ledger. */
export const questions = (
  context: TableContext,
): Pick<LedgerView, 'facts' | 'budget' | 'latestEvent' | 'eventAfter'> => ({
  facts: async () => ({
    unclear: await new OpenAttempts(context).countUnclear(),
    moved: await readMoved(context),
    listeners: (await new Runs(context).running()).length,
    loans: await new WebhookLoans(context).all(),
  }),
  budget: () => new Budgets(context).get(),
  latestEvent: async () => {
    const sql = 'SELECT coalesce(max(id), 0) AS id FROM events WHERE profile = ?';
    return (await context.db.get<{ id: number }>(sql, context.profile))?.id ?? 0;
  },
  eventAfter: async (n, type) => {
    const sql = 'SELECT min(id) AS id FROM events WHERE profile = ? AND id > ? AND event = ?';
    return (await context.db.get<{ id: number | null }>(sql, context.profile, n, type))?.id ?? undefined;
  },
});
