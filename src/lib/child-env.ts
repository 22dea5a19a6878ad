/** What the programs that we start see of our environment: all of it but our secrets. */
import type { Env } from './env.ts';
import { shownPostgresUrl } from './postgres-url.ts';

/** The key of the account, and what libpq calls the passwords of a database and of its client key. */
const secrets = ['STENO_API_KEY', 'PGPASSWORD', 'PGSSLPASSWORD'];

export function childEnv(env: Env): Env {
  const variables = Object.entries(env).filter(([name]) => !secrets.includes(folded(name)));
  return Object.fromEntries(
    variables.map(([name, value]) => [
      name,
      folded(name) === 'STENO_LEDGER' ? withoutPassword(value) : value,
    ]),
  );
}

/** Windows knows no case in the names of variables. */
const folded = (name: string): string => name.toUpperCase();

/** A `steno` in the command must not fall back to the local ledger: it would order again what the shared one has. */
function withoutPassword(url: string | undefined): string | undefined {
  try {
    return url && shownPostgresUrl(url);
  } catch {
    // It may hold a password all the same, and steno refuses this one too.
    return url && 'unreadable';
  }
}
