/** Opens a shared ledger: checks that it may be used, and makes its tables in a database that has none. */
import { StenoError } from '../../lib/errors.ts';
import { KEY_ROWS, type KeyRow } from '../account-keys.ts';
import type { SharedLedgerOptions } from '../shared.ts';
import { type AccountRow, accountsQuery, checkAccount, type Known } from './accounts.ts';
import { PostgresConnection } from './connection.ts';
import { isMissingTable } from './failures.ts';
import { migrate } from './migrate.ts';
import { type MigrationRow, missingIn, refuseNewer } from './versions.ts';

interface ServerRow {
  readonly standby: boolean;
  readonly read_only: 'on' | 'off';
  /** In milliseconds. */
  readonly now: string;
}

interface DatedMigration extends MigrationRow {
  /** In seconds; to the microsecond, so that no two ledgers have the same. */
  readonly at: string;
}

/** What a connection may take. */
export interface ConnectLimits {
  readonly timeoutMs: number;
  readonly queryTimeoutMs: number;
}

const MIGRATIONS =
  'SELECT name, min_client, extract(epoch FROM at)::text AS at FROM {schema}.steno_migrations ORDER BY at';

/** What is known of a ledger that may be used. */
interface Checked {
  /** Tells it from every other ledger, wherever it is moved. */
  readonly identity: string;
  readonly known: Known;
}

export interface Opened extends Partial<Checked> {
  readonly connection: PostgresConnection;
}

export async function openChecked(options: SharedLedgerOptions, limits?: ConnectLimits): Promise<Opened> {
  const connection = await PostgresConnection.open(options.address, { ...options, ...limits });
  try {
    return { connection, ...(await check(connection, options)) };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** All questions share a round trip. */
async function check(connection: PostgresConnection, options: SharedLedgerOptions): Promise<Checked> {
  const { account } = options;
  const { schema } = options.address;
  const [server, migrations, accounts, keys] = await Promise.allSettled([
    connection.query<ServerRow>(
      `SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') AS read_only,
         extract(epoch FROM clock_timestamp()) * 1000 AS now`,
    ),
    connection.query<DatedMigration>(MIGRATIONS.replace('{schema}', schema)),
    connection.query<AccountRow>(...accountsQuery(account)),
    connection.query<KeyRow>(KEY_ROWS),
  ]);
  const answeredAt = Date.now();
  if (server.status === 'rejected') throw server.reason;
  const [row] = server.value.rows;
  if (row?.standby) throw readOnlyError(connection, 'it is a standby');
  if (row?.read_only === 'on') throw readOnlyError(connection, 'default_transaction_read_only is on');
  connection.clockAheadMs = Math.floor(Number(row?.now)) - answeredAt;
  if (migrations.status === 'rejected') {
    if (!isMissingTable(migrations.reason)) throw migrations.reason;
    await migrate(connection, schema);
    return check(connection, options);
  }
  checkVersion(connection, migrations.value.rows);
  if (accounts.status === 'rejected') throw accounts.reason;
  checkAccount(accounts.value.rows, account);
  if (keys.status === 'rejected') throw keys.reason;
  const known = { accounts: accounts.value.rows, keys: keys.value.rows };
  return { identity: migrations.value.rows[0]?.at ?? '', known };
}

const readOnlyError = ({ where }: PostgresConnection, reason: string): StenoError =>
  new StenoError('failed', `the shared ledger at ${where} only reads: ${reason}`, {
    hint: 'name the primary server, and a role that may write, in the setting ledger',
  });

function checkVersion(connection: PostgresConnection, applied: readonly MigrationRow[]): void {
  refuseNewer(connection, applied);
  if (missingIn(applied).length) {
    throw new StenoError('failed', `the shared ledger at ${connection.where} is of an older steno`, {
      hint: 'bring it up to date with: steno ledger migrate',
    });
  }
}
