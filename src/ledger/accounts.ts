/** Which service an account of a shared ledger belongs to, and whether orders may be placed with a ledger. */
import { type StenoError, usage } from '../lib/errors.ts';
import { comparableBaseUrl as comparable } from '../lib/url.ts';
import type { Ledger } from './ledger.ts';
import { refuseMoved } from './moved.ts';
import { isRefusedRow } from './stores/postgres-connection.ts';
import type { AccountRow, KnownAccounts, LedgerAccount, Store, Value } from './stores/store.ts';

/** Throws where no order may be placed with this ledger. A dry run writes nothing. */
export async function prepareForOrders({ db, profile }: Ledger, isDryRun: boolean): Promise<void> {
  await refuseMoved(db, profile);
  if (!db.known) return;
  checkIsChosen(db.known);
  if (!isDryRun) await register(db, db.known);
}

/** Finds an account of a shared ledger, and others of the same service. */
export const accountsQuery = ({ name, baseUrl }: LedgerAccount): [string, Value[]] => [
  'SELECT name, base_url FROM accounts WHERE name = ? OR base_url = ? ORDER BY name',
  [name, baseUrl === undefined ? '' : comparable(baseUrl)],
];

/** Refuses an account that belongs to another service. */
export function checkAccount(known: readonly AccountRow[], account: LedgerAccount, schema: string): void {
  const own = known.find((row) => row.name === account.name);
  if (!own || account.baseUrl === undefined || own.base_url === comparable(account.baseUrl)) return;
  throw usage(
    `account ${own.name} of the shared ledger belongs to ${own.base_url}, not to ${account.baseUrl}`,
    otherServiceHint(own.name, account.baseUrl, schema),
  );
}

/** Only whoever may change the database says that a service has moved: it holds for all who use the account. */
export function otherServiceHint(name: string, baseUrl: string, schema: string): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  const sql = `UPDATE ${schema}.accounts SET base_url = ${quoted(comparable(baseUrl))} WHERE name = ${quoted(name)}`;
  return `choose another account: steno config set account <name>; if the service has moved, run in the database: ${sql}`;
}

/** Refuses an account that nobody chose where the service has another one here: it could be the same account. */
function checkIsChosen({ account: { name, isChosen, baseUrl }, accounts }: KnownAccounts): void {
  const others = accounts.filter((row) => row.name !== name).map((row) => row.name);
  if (!isChosen && baseUrl !== undefined && others.length) throw notChosen(baseUrl, name, others);
}

const notChosen = (baseUrl: string, name: string, others: readonly string[]): StenoError =>
  usage(
    `the shared ledger knows ${baseUrl} as account ${others.join(', ')}, but no account is set here (the default is ${name})`,
    `if it is the same account: steno config set account ${others[0]} (or STENO_ACCOUNT=${others[0]}); if not: steno config set account ${name}`,
  );

/** Before the first order of an account: writes down which service it belongs to. */
async function register(db: Store, { account, accounts, schema }: KnownAccounts): Promise<void> {
  const { name, baseUrl, isChosen } = account;
  if (baseUrl === undefined || accounts.some((row) => row.name === name)) return;
  try {
    await db.run(
      'INSERT INTO accounts (name, base_url, first_used_at, chosen) VALUES (?, ?, ?, ?)',
      ...[name, comparable(baseUrl), new Date().toISOString(), Number(isChosen)],
    );
  } catch (error) {
    if (!isRefusedRow(error)) throw error;
    // Another machine was the first at the same moment: of names that nobody chose, a service has one.
    const [sql, values] = accountsQuery(account);
    const now = await db.all<AccountRow>(sql, ...values);
    checkAccount(now, account, schema);
    checkIsChosen({ account, accounts: now, schema });
  }
}
