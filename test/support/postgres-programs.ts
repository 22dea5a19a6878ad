/** Where PostgreSQL is installed. Knows nothing else: the configuration of the test runner loads it. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of its programs; undefined where none is installed. CI installs one. */
export const postgresFolder = findPrograms();

/** Whether the tests with a shared ledger can run: on a server of their own, or on one that is named. */
export const hasPostgres = postgresFolder !== undefined || Boolean(process.env.STENO_TEST_POSTGRES);

export const SKIPPED =
  'shared ledger: skipped; to run it, install PostgreSQL and PgBouncer (Debian: apt-get install postgresql pgbouncer), ' +
  'or name a server: STENO_TEST_POSTGRES=postgres://…';

function findPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(root, version, 'bin')),
    ...(process.env.PATH ?? '').split(':'),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}
