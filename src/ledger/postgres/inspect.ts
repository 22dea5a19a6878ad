/** What a shared ledger says of itself. It may be of any version, and nothing is made or changed. */
import { type LedgerView, questions } from '../inspect.ts';
import type { SharedLedgerOptions } from '../shared.ts';
import { type LedgerStatus, mayWork, nothing, type StoreStatus, statusOfTables } from '../status.ts';
import type { Hide } from '../table.ts';
import { type AccountRow, changeBaseUrl } from './accounts.ts';
import { PostgresConnection } from './connection.ts';
import { isMissingTable } from './failures.ts';
import { migrate, refuseForeign } from './migrate.ts';
import { PostgresStore } from './store.ts';
import { CLIENT_LEVEL, type MigrationRow, missingIn, refuseNewer } from './versions.ts';

export async function statusOfShared(options: SharedLedgerOptions, hide: Hide): Promise<LedgerStatus> {
  return withConnection(options, async (connection) => {
    const own = await storeStatus(connection);
    if (!own.made || own.missing.length || !mayWork(own)) return { ...own, ...nothing };
    const db = new PostgresStore(async () => ({ connection }), options.account);
    return { ...own, ...nothing, ...(await statusOfTables({ db, profile: options.account.name, hide })) };
  });
}

/** The same for looking: it stays connected. */
export async function viewShared(options: SharedLedgerOptions, hide: Hide): Promise<LedgerView> {
  const connection = await PostgresConnection.open(options.address, options);
  try {
    const store = await storeStatus(connection);
    const db = new PostgresStore(async () => ({ connection }), options.account);
    return {
      version: store.migrations.at(-1) ?? '',
      missing: store.missing,
      bytes: store.bytes,
      isChecked: false,
      store,
      ...questions({ db, profile: options.account.name, hide }),
      close: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Brings the tables up to date; gives the names of the migrations that were missing. */
export const migrateShared = (options: SharedLedgerOptions): Promise<readonly string[]> =>
  withConnection(options, (connection) => migrate(connection, connection.schema));

/** Moves an account to another service; gives the one it belonged to. */
export function changeAccount(options: SharedLedgerOptions, baseUrl: string): Promise<string | undefined> {
  return withConnection(options, async (connection) => {
    const applied = await migrationsIn(connection);
    if (applied) refuseNewer(connection, applied);
    else await migrate(connection, connection.schema);
    const db = new PostgresStore(async () => ({ connection }), options.account);
    const { name } = options.account;
    return db.transaction(async (store) => {
      const own = await store.get<AccountRow>('SELECT name, base_url FROM accounts WHERE name = ?', name);
      await changeBaseUrl(store, name, baseUrl);
      return own?.base_url;
    });
  });
}

async function withConnection<Result>(
  options: SharedLedgerOptions,
  work: (connection: PostgresConnection) => Promise<Result>,
): Promise<Result> {
  const connection = await PostgresConnection.open(options.address, options);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/** Undefined where there are no tables. */
async function migrationsIn(connection: PostgresConnection): Promise<MigrationRow[] | undefined> {
  try {
    const sql = `SELECT name, min_client FROM ${connection.schema}.steno_migrations ORDER BY name`;
    return (await connection.query<MigrationRow>(sql)).rows;
  } catch (error) {
    if (isMissingTable(error)) return undefined;
    throw error;
  }
}

async function storeStatus(connection: PostgresConnection): Promise<StoreStatus> {
  const applied = await migrationsIn(connection);
  if (!applied) await refuseForeign(connection, connection.schema);
  const { rows: server } = await connection.query<{ version: string; bytes: number }>(
    `SELECT current_setting('server_version') AS version,
       (SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::bigint FROM pg_class
        JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = ? AND relkind = 'r') AS bytes`,
    [connection.schema],
  );
  const { rows: accounts } = applied
    ? await connection.query<AccountRow>('SELECT name, base_url FROM accounts ORDER BY name')
    : { rows: [] };
  return {
    store: 'postgres',
    made: applied !== undefined,
    server: server[0]?.version ?? '',
    bytes: server[0]?.bytes ?? 0,
    migrations: (applied ?? []).map(({ name }) => name),
    missing: missingIn(applied ?? []).map(({ name }) => name),
    minClient: (applied ?? []).reduce((most, { min_client: least }) => Math.max(most, least), 0),
    client: CLIENT_LEVEL,
    accounts: accounts.map(({ name, base_url }) => ({ name, baseUrl: base_url })),
  };
}
