/** The same ids from a shared ledger: a file of its own, because most have none. */
import { type IdSuggestion, IdSuggestions } from '../ledger/id-suggestions.ts';
import { openForReading } from '../ledger/shared.ts';
import type { Env } from '../lib/env.ts';
import { readPostgresUrl } from '../lib/postgres-url.ts';

/** Longer, and a person would rather type. */
const TIMEOUT_MS = 1_000;

export interface Asked {
  readonly account: string;
  readonly kind: string;
  readonly prefix: string;
}

/** Without `ledger-password-command`, which may ask something on the terminal. Ends the program where it takes long. */
export async function suggestFromShared(
  url: string,
  env: Env,
  { account, kind, prefix }: Asked,
): Promise<IdSuggestion[]> {
  // A server may also accept the connection and then say nothing.
  const limit = setTimeout(() => process.exit(), TIMEOUT_MS);
  const address = readPostgresUrl(url, env);
  const password = async (): Promise<string> => address.password ?? '';
  const db = openForReading(address, { timeoutMs: TIMEOUT_MS, queryTimeoutMs: TIMEOUT_MS, password });
  try {
    return await new IdSuggestions({ db, profile: account, hide: String }).suggest(kind, prefix);
  } finally {
    clearTimeout(limit);
    void db.close();
  }
}
