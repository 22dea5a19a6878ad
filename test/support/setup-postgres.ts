/** One PostgreSQL server for all files that run with a shared ledger; each user has a schema of their own in it. */
import type { TestProject } from 'vitest/node';
import { postgresFolder, startPostgres } from './postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Undefined where no PostgreSQL is installed. */
    postgres: string | undefined;
  }
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env.STENO_TEST_POSTGRES) {
    project.provide('postgres', process.env.STENO_TEST_POSTGRES);
    return undefined;
  }
  if (!postgresFolder) {
    if (process.env.CI) throw new Error('CI must have PostgreSQL');
    console.log('shared ledger: skipped; install PostgreSQL to run it (Debian: apt-get install postgresql)');
    project.provide('postgres', undefined);
    return undefined;
  }
  const server = await startPostgres(['max_connections = 200', 'fsync = off']);
  project.provide('postgres', `postgres://postgres@127.0.0.1:${server.port}/postgres`);
  return () => server.stop();
}
