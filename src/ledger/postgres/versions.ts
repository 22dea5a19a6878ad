/** Which steno may work with which tables: migrations only add, so an older one mostly may. */
import { StenoError } from '../../lib/errors.ts';
import type { PostgresConnection } from './connection.ts';
import { postgresMigrations } from './schema.ts';

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
  if (applied.every((row) => row.min_client <= level)) return;
  throw new StenoError(
    'failed',
    `the shared ledger at ${where} is of a newer steno, which this one can't follow`,
    { hint: 'update steno' },
  );
}

export const missingIn = (applied: readonly MigrationRow[]): typeof postgresMigrations =>
  postgresMigrations.filter(({ name }) => !applied.some((row) => row.name === name));
