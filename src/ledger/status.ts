/** What there is to know about a ledger itself. */
import { statSync } from 'node:fs';
import { backupsOf } from './backups.ts';
import { dumpTables } from './dump/tables.ts';
import { type Moved, readMoved } from './moved.ts';
import { OpenAttempts } from './open-attempts.ts';
import { migrations } from './schema.ts';
import { SqliteStore } from './sqlite-store.ts';
import type { TableContext } from './table.ts';

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
  context: Omit<TableContext, 'db'>,
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
      ...(await statusOfTables({ ...context, db })),
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
