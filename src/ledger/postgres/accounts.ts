/** Which service an account belongs to: two services must not share rows, and one account must not become two. */
import { usage } from '../../lib/errors.ts';
import { comparableBaseUrl as comparable } from '../../lib/urls.ts';
import { isNewKey, KEY_ROWS, type KeyRow, type KeyUser, keyProperty, takeKey } from '../account-keys.ts';
import type { Account } from '../shared.ts';
import type { Store, Value } from '../store.ts';
import { isRefusedRow } from './failures.ts';

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

/** What a shared ledger knew of accounts and keys when it was opened. */
export interface Known {
  /** The account itself, and others of the same service. */
  readonly accounts: readonly AccountRow[];
  readonly keys: readonly KeyRow[];
}

/** Refuses what would make two accounts of one. `mark`: of the service and the key, where that is known. */
export function checkOne({ accounts, keys }: Known, account: Account, mark: string | undefined): void {
  checkChosen(accounts, account);
  if (mark !== undefined) isNewKey(keys, { name: account.name, mark, isShared: true });
}

/** Before the first order of an account: writes down which service it belongs to; before that with a key, whose it is. */
export async function registerAccount(
  store: Store,
  known: Known,
  account: Account,
  mark: string | undefined,
): Promise<void> {
  const { name, baseUrl } = account;
  checkOne(known, account, mark);
  const user = mark === undefined ? undefined : { name, mark, isShared: true };
  const isKnown = baseUrl === undefined || known.accounts.some((row) => row.name === name);
  if (!isKnown && (await addAccount(store, account, user && isNewKey(known.keys, user) ? user : undefined)))
    return;
  if (isKnown) return user && takeKey(store, user, known.keys);
  // Another machine was the first at the same moment: of names that nobody chose, a service has one.
  const [sql, values] = accountsQuery(account);
  const now = {
    accounts: await store.all<AccountRow>(sql, ...values),
    keys: await store.all<KeyRow>(KEY_ROWS),
  };
  checkAccount(now.accounts, account);
  checkOne(now, account, mark);
}

/** One statement, so that a name that is refused leaves nothing behind; false where it, or its key, is there already. */
async function addAccount(
  store: Store,
  { name, baseUrl = '', isChosen }: Account,
  user: KeyUser | undefined,
): Promise<boolean> {
  const account = 'INSERT INTO accounts (name, base_url, first_used_at, chosen) VALUES (?, ?, ?, ?)';
  const values = [name, comparable(baseUrl), new Date().toISOString(), Number(isChosen)];
  try {
    if (user)
      await store.run(
        `WITH added AS (${account} RETURNING name) INSERT INTO properties (name, value) SELECT ?, name FROM added`,
        ...values,
        keyProperty(user.mark),
      );
    else await store.run(account, ...values);
    return true;
  } catch (error) {
    if (isRefusedRow(error)) return false;
    throw error;
  }
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
