/** The tables of a shared ledger, who may work with them, and the SQL of the tables made Postgres's. */
import { StenoError } from '../../lib/errors.ts';
import { earlierError } from '../../lib/sqlite.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { POSTGRES_TABLES } from './postgres-dialect.ts';

export interface PostgresMigration {
  readonly name: string;
  /** With `{schema}` for the name of the schema. */
  readonly sql: string;
  /** How many migrations a steno must know to work with the tables after this one. */
  readonly minClient: number;
}

/** In the order they were added; one that has been released is never changed, and each only adds. */
export const postgresMigrations: readonly PostgresMigration[] = [
  { name: '001-facts', minClient: 1, sql: POSTGRES_TABLES },
];

/** What a client must know to work with these tables: the number of migrations that it was built with. */
export const CLIENT_LEVEL = postgresMigrations.length;

export interface MigrationRow {
  readonly name: string;
  readonly min_client: number;
}

/** One that this steno does not know is no reason to refuse: only the number that it asks for is. */
export function refuseNewer(
  { where }: PostgresConnection,
  applied: readonly MigrationRow[],
  level = CLIENT_LEVEL,
): void {
  if (applied.length && !applied.some(({ name }) => postgresMigrations.some((each) => each.name === name)))
    throw earlierError(`the shared ledger at ${where}`);
  if (applied.every((row) => row.min_client <= level)) return;
  throw new StenoError(
    'failed',
    `the shared ledger at ${where} was made by a newer steno, and this version can't use it`,
    { hint: 'update steno' },
  );
}

export const missingIn = (applied: readonly MigrationRow[]): typeof postgresMigrations =>
  postgresMigrations.filter(({ name }) => !applied.some((row) => row.name === name));

/** Gives the names of the migrations that were missing. Others wait for the lock, and find nothing left to do. */
export async function migrate(
  connection: PostgresConnection,
  schema: string,
  known = postgresMigrations,
): Promise<readonly string[]> {
  await connection.query('BEGIN');
  try {
    await connection.query('SELECT pg_advisory_xact_lock(hashtext(?))', [`steno ${schema}`]);
    const done = await applyMissing(connection, schema, known);
    await connection.query('COMMIT');
    return done;
  } catch (error) {
    if (!connection.isLost) await connection.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function applyMissing(
  connection: PostgresConnection,
  schema: string,
  known: typeof postgresMigrations,
): Promise<readonly string[]> {
  const { rows: server } = await connection.query<{ encoding: string }>(
    "SELECT current_setting('server_encoding') AS encoding",
  );
  refuseEncoding(connection, server[0]?.encoding);
  await refuseForeign(connection, schema);
  await makeSchema(connection, schema);
  await connection.query(
    `CREATE TABLE IF NOT EXISTS ${schema}.steno_migrations (
       name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), min_client integer NOT NULL)`,
  );
  const { rows } = await connection.query<MigrationRow>(
    `SELECT name, min_client FROM ${schema}.steno_migrations`,
  );
  refuseNewer(connection, rows, known.length);
  const missing = known.filter(({ name }) => !rows.some((row) => row.name === name));
  for (const { name, sql, minClient } of missing) {
    await connection.script(sql.replaceAll('{schema}', schema));
    await connection.query(`INSERT INTO ${schema}.steno_migrations (name, min_client) VALUES (?, ?)`, [
      name,
      minClient,
    ]);
  }
  return missing.map(({ name }) => name);
}

/** Any other encoding lacks letters: what was bought could not be written down. */
export function refuseEncoding({ where }: PostgresConnection, encoding: string | undefined): void {
  if (encoding === 'UTF8') return;
  throw new StenoError(
    'failed',
    `the database at ${where} has the encoding ${encoding}, and a ledger requires UTF8`,
    {
      hint: "create another one: CREATE DATABASE steno ENCODING 'UTF8' TEMPLATE template0",
    },
  );
}

/** A schema with tables that are not ours. */
export async function refuseForeign(connection: PostgresConnection, schema: string): Promise<void> {
  const tables = await tablesIn(connection, schema);
  if (tables.length === 0 || tables.includes('steno_migrations')) return;
  throw new StenoError('failed', `the schema ${schema} at ${connection.where} holds something else`, {
    hint: 'choose another with ?schema=<name> in the URL',
  });
}

async function tablesIn(connection: PostgresConnection, schema: string): Promise<readonly string[]> {
  const { rows } = await connection.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = ? AND relkind IN ('r', 'v', 'm', 'p')`,
    [schema],
  );
  return rows.map(({ name }) => name);
}

/** A role that may not make schemas can work in one that was made for it. */
async function makeSchema(connection: PostgresConnection, schema: string): Promise<void> {
  const { rows } = await connection.query('SELECT 1 FROM pg_namespace WHERE nspname = ?', [schema]);
  if (rows.length === 0) await connection.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
}
