/** Which service an account belongs to: two services must not share rows, and one account must not become two. */
import { usage } from '../../lib/errors.ts';
import type { Account } from '../shared.ts';
import type { Store, Value } from '../store.ts';

export interface AccountRow {
  readonly name: string;
  readonly base_url: string;
}

/** Finds the account, and others of the same service. */
export const accountsQuery = ({ name, baseUrl }: Account): [string, Value[]] => [
  'SELECT name, base_url FROM accounts WHERE name = ? OR base_url = ? ORDER BY name',
  [name, baseUrl === undefined ? '' : comparable(baseUrl)],
];

/** Refuses an account that belongs to another service. One that is new is written down by its first order. */
export function checkAccount(known: readonly AccountRow[], { name, baseUrl }: Account): void {
  const own = known.find((row) => row.name === name);
  if (!own || baseUrl === undefined || own.base_url === comparable(baseUrl)) return;
  throw usage(
    `account ${name} of the shared ledger belongs to ${own.base_url}, not to ${baseUrl}`,
    `choose another with: steno config set account <name>; if the service has moved: steno ledger account --base-url ${baseUrl}`,
  );
}

/**
 * Refuses an account that nobody chose where the service has another one here: a profile's name must not make two of one.
 * A dry run stops here too.
 */
export function checkChosen(known: readonly AccountRow[], { name, isChosen, baseUrl }: Account): void {
  const others = known.filter((row) => row.name !== name).map((row) => row.name);
  const [other] = others;
  if (isChosen || baseUrl === undefined || other === undefined) return;
  throw usage(
    `the shared ledger knows ${baseUrl} as account ${others.join(', ')}, and no account is set here (it would be ${name})`,
    `if it is the same account: steno config set account ${other} (or STENO_ACCOUNT=${other}); if not: steno config set account ${name}`,
  );
}

/** Before the first order of an account: writes down which service it belongs to. */
export async function registerAccount(
  store: Store,
  known: readonly AccountRow[],
  account: Account,
): Promise<void> {
  const { name, baseUrl, isChosen } = account;
  checkChosen(known, account);
  if (baseUrl === undefined || known.some((row) => row.name === name)) return;
  const added = await store.run(
    `INSERT INTO accounts (name, base_url, first_used_at, chosen) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    name,
    comparable(baseUrl),
    new Date().toISOString(),
    Number(isChosen),
  );
  if (added > 0) return;
  // Another machine was the first at the same moment: of names that nobody chose, a service has one.
  const [sql, values] = accountsQuery(account);
  const now = await store.all<AccountRow>(sql, ...values);
  checkAccount(now, account);
  checkChosen(now, account);
}

/** Moves an account to another service. */
export const changeBaseUrl = (store: Store, name: string, baseUrl: string): Promise<number> =>
  store.run(
    `INSERT INTO accounts (name, base_url, first_used_at) VALUES (?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET base_url = excluded.base_url, chosen = 1`,
    name,
    comparable(baseUrl),
    new Date().toISOString(),
  );

/** One spelling of a base URL. */
const comparable = (baseUrl: string): string => new URL(baseUrl).href.replace(/\/+$/, '');
