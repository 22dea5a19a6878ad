/** One PostgreSQL server for all files that run with a shared ledger; each user has a schema of their own in it. */
import type { TestProject } from 'vitest/node';
import { postgresFolder, startPostgres } from './postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: string;
  }
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env.STENO_TEST_POSTGRES) {
    project.provide('postgres', process.env.STENO_TEST_POSTGRES);
    return undefined;
  }
  if (!postgresFolder) throw new Error('CI must have PostgreSQL: apt-get install postgresql pgbouncer');
  const server = await startPostgres(['max_connections = 200', 'fsync = off']);
  project.provide('postgres', `postgres://postgres@127.0.0.1:${server.port}/postgres`);
  return () => server.stop();
}
