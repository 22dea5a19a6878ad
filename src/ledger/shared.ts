/** A ledger that several machines share: opens it, and says what it says of itself. */
import { StenoError } from '../lib/errors.ts';
import type { PostgresAddress } from '../lib/postgres-url.ts';
import { accountsQuery, checkAccount } from './accounts.ts';
import { type LedgerStatus, type LedgerView, type StoreStatus, statusOf } from './inspect.ts';
import { type ConnectLimits, type Opened, PostgresStore } from './stores/postgres.ts';
import { type ConnectOptions, isMissingTable, PostgresConnection } from './stores/postgres-connection.ts';
import {
  CLIENT_LEVEL,
  type MigrationRow,
  migrate,
  missingIn,
  refuseEncoding,
  refuseForeign,
  refuseNewer,
} from './stores/postgres-schema.ts';
import type { AccountRow, LedgerAccount, Store } from './stores/store.ts';
import type { Hide } from './table.ts';
import type { OnTrouble } from './waiting.ts';

/** What it takes to open one. */
export interface SharedLedgerOptions {
  readonly address: PostgresAddress;
  /** Asked at each connection: a password may be a token that is valid for minutes. */
  readonly password: () => Promise<string>;
  /** How long a connection may take. */
  readonly timeoutMs: number;
  /** How long the database may be silent while a statement waits. */
  readonly queryTimeoutMs: number;
  readonly account: LedgerAccount;
  /** The folder on this machine for what the ledger can't take. */
  readonly folder: string;
  /** Told where something of it still can't be handed over. */
  readonly onTrouble: OnTrouble;
}

export async function openSharedStore(options: SharedLedgerOptions): Promise<PostgresStore> {
  const store = unconnectedStore(options);
  await store.connect();
  return store;
}

/** Connects when it is first used. */
export const unconnectedStore = (options: SharedLedgerOptions): PostgresStore =>
  new PostgresStore((limits) => openChecked(options, limits));

/** For a look at a few rows: nothing is asked before, and no tables are made. Connects at the first question. */
export const openForReading = (
  address: PostgresAddress,
  options: ConnectOptions,
): Store & Pick<PostgresStore, 'close'> =>
  new PostgresStore(async () => ({ connection: await PostgresConnection.open(address, options) }));

interface ServerRow {
  readonly standby: boolean;
  readonly read_only: 'on' | 'off';
  readonly encoding: string;
  /** In milliseconds. */
  readonly now: string;
}

interface DatedMigration extends MigrationRow {
  /** In seconds; to the microsecond, so that no two ledgers have the same. */
  readonly at: string;
}

const MIGRATIONS =
  'SELECT name, min_client, extract(epoch FROM at)::text AS at FROM {schema}.steno_migrations ORDER BY at';

async function openChecked(options: SharedLedgerOptions, limits?: ConnectLimits): Promise<Opened> {
  const connection = await PostgresConnection.open(options.address, { ...options, ...limits });
  try {
    return { connection, ...(await check(connection, options)) };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** All questions share a round trip. */
async function check(
  connection: PostgresConnection,
  options: SharedLedgerOptions,
): Promise<Required<Omit<Opened, 'connection'>>> {
  const { account } = options;
  const { schema } = options.address;
  const [server, migrations, accounts] = await Promise.allSettled([
    connection.query<ServerRow>(
      `SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') AS read_only,
         current_setting('server_encoding') AS encoding,
         extract(epoch FROM clock_timestamp()) * 1000 AS now`,
    ),
    connection.query<DatedMigration>(MIGRATIONS.replace('{schema}', schema)),
    connection.query<AccountRow>(...accountsQuery(account)),
  ]);
  const answeredAt = Date.now();
  if (server.status === 'rejected') throw server.reason;
  const [row] = server.value.rows;
  if (row?.standby) throw readOnlyError(connection, 'it is a standby');
  if (row?.read_only === 'on') throw readOnlyError(connection, 'default_transaction_read_only is on');
  refuseEncoding(connection, row?.encoding);
  connection.clockAheadMs = Math.floor(Number(row?.now)) - answeredAt;
  if (migrations.status === 'rejected') {
    if (!isMissingTable(migrations.reason)) throw migrations.reason;
    await migrate(connection, schema);
    return check(connection, options);
  }
  checkVersion(connection, migrations.value.rows);
  if (accounts.status === 'rejected') throw accounts.reason;
  checkAccount(accounts.value.rows, account, schema);
  const known = { account, accounts: accounts.value.rows, schema };
  return { identity: migrations.value.rows[0]?.at ?? '', known };
}

const readOnlyError = ({ where }: PostgresConnection, reason: string): StenoError =>
  new StenoError('failed', `the shared ledger at ${where} is read-only: ${reason}`, {
    hint: 'name the primary server, and a role that may write, in the setting ledger',
  });

function checkVersion(connection: PostgresConnection, applied: readonly MigrationRow[]): void {
  refuseNewer(connection, applied);
  if (missingIn(applied).length) {
    throw new StenoError('failed', `the shared ledger at ${connection.where} was made by an older steno`, {
      hint: 'upgrade it with: steno ledger migrate',
    });
  }
}

export const statusOfShared = async (options: SharedLedgerOptions, hide: Hide): Promise<LedgerStatus> =>
  statusOf(await viewShared(options, hide));

/** It may be of any version, and nothing is made or changed. It stays connected. */
export async function viewShared(options: SharedLedgerOptions, hide: Hide): Promise<LedgerView> {
  const connection = await PostgresConnection.open(options.address, options);
  try {
    const db = new PostgresStore(async () => ({ connection }));
    return {
      status: await storeStatus(connection),
      context: { db, profile: options.account.name, hide },
      close: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Brings the tables up to date; gives the names of the migrations that were missing. */
export async function migrateShared(options: SharedLedgerOptions): Promise<readonly string[]> {
  const connection = await PostgresConnection.open(options.address, options);
  try {
    return await migrate(connection, connection.schema);
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
  const { rows: server } = await connection.query<{ version: string; encoding: string; bytes: number }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
       (SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::bigint FROM pg_class
        JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = ? AND relkind = 'r') AS bytes`,
    [connection.schema],
  );
  refuseEncoding(connection, server[0]?.encoding);
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
