/**
 * Which service an account belongs to, and which account or profile orders with which key: one that gets a second name
 * would buy again what it has on order under the first. A ledger keeps a salted mark of service and key, never the key,
 * and remembers who first used it.
 */
import { type StenoError, usage } from '../lib/errors.ts';
import { secretMark } from '../lib/sealer.ts';
import { comparableBaseUrl as comparable } from '../lib/url.ts';
import type { Ledger } from './ledger.ts';
import { refuseMoved } from './moved.ts';
import { Properties } from './properties.ts';
import { isRefusedRow } from './stores/postgres-connection.ts';
import type { AccountRow, KeyRow, KnownAccounts, LedgerAccount, Store, Value } from './stores/store.ts';

/** Names of properties begin with these. */
const KEY = 'key ';
const SEPARATE = 'separate ';

/** All that a ledger knows of keys: a row for each key that was ordered with, and for each two names that are two accounts. */
export const KEY_ROWS = `SELECT name, value FROM properties WHERE name LIKE '${KEY}%' OR name LIKE '${SEPARATE}%'`;

const keyProperty = (mark: string): string => KEY + mark;

/** The property that says that two names are two accounts, whatever their keys. */
const separateProperty = (one: string, other: string): string => SEPARATE + [one, other].sort().join(' ');

/** Who uses the key. */
interface KeyUser {
  /** The account or profile. */
  readonly name: string;
  readonly mark: string;
  readonly isShared: boolean;
}

/**
 * Throws where no order may be placed with this ledger. `mark`: of the service and the key that it would be placed with,
 * undefined where that is not known. A dry run writes nothing.
 */
export async function prepareForOrders(ledger: Ledger, isDryRun: boolean, mark?: string): Promise<void> {
  const { db, profile } = ledger;
  await refuseMoved(db, profile);
  const { known } = db;
  if (known && isDryRun) checkOne(known, mark);
  else if (known) await registerAccount(db, known, mark);
  if (known || mark === undefined) return;
  const user = { name: profile, mark, isShared: false };
  const rows = await db.all<KeyRow>(KEY_ROWS);
  if (isDryRun) isNewKey(rows, user);
  else await takeKey(db, user, rows);
}

/** The mark of a service and a key, by which a ledger knows them again; the same on all machines that share it. */
export async function keyMark(ledger: Ledger, baseUrl: string, key: string): Promise<string> {
  const { db } = ledger;
  const salt = db.isShared ? db.identity : await new Properties(ledger).salt();
  return secretMark(key, salt, comparable(baseUrl));
}

/** Says that this account or profile and another are two; the other must be one that the ledger knows. */
export async function keepAccountsSeparate({ db, profile }: Ledger, other: string): Promise<void> {
  const rows = await db.all<KeyRow>(KEY_ROWS);
  const owners = new Set(rows.filter(({ name }) => name.startsWith(KEY)).map(({ value }) => value));
  const known = [...owners].filter((owner) => owner !== profile);
  if (!known.includes(other))
    throw usage(
      `no orders were placed as '${other}' with this ledger`,
      known.length ? `known accounts: ${known.sort().join(', ')}` : 'the ledger knows no other account',
    );
  const sql = "INSERT INTO properties (name, value) VALUES (?, '') ON CONFLICT DO NOTHING";
  await db.run(sql, separateProperty(profile, other));
}

/** Throws where the key is known under another name that nobody has told apart; gives whether it is not known yet. */
function isNewKey(rows: readonly KeyRow[], { name, mark, isShared }: KeyUser): boolean {
  const owner = rows.find((row) => row.name === keyProperty(mark))?.value;
  if (owner === undefined || owner === name) return owner === undefined;
  if (rows.some((row) => row.name === separateProperty(owner, name))) return false;
  throw isShared ? secondAccount(owner, name) : secondProfile(owner, name);
}

/** Writes down who uses the key, where that is not known yet; `rows`: what the ledger knew a moment ago. */
async function takeKey(db: Store, user: KeyUser, rows: readonly KeyRow[]): Promise<void> {
  if (!isNewKey(rows, user)) return;
  const sql = 'INSERT INTO properties (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING';
  const added = await db.run(sql, keyProperty(user.mark), user.name);
  // Another process was the first at the same moment.
  if (added === 0) isNewKey(await db.all<KeyRow>(KEY_ROWS), user);
}

const secondAccount = (owner: string, name: string): StenoError =>
  usage(
    `the shared ledger knows this service and key as account ${owner}: as account ${name}, orders of ${owner} could be placed twice`,
    `use that account: steno config set account ${owner} (or STENO_ACCOUNT=${owner}); ` +
      `if ${name} is a separate account: steno ledger account --separate-from ${owner}`,
  );

const secondProfile = (owner: string, name: string): StenoError =>
  usage(
    `profile ${owner} orders with the same service and key: as profile ${name}, orders of ${owner} could be placed twice`,
    `use that profile: --profile ${owner}; ` +
      `if ${name} is a separate account: steno ledger account --separate-from ${owner} --profile ${name}`,
  );

/** Finds an account of a shared ledger, and others of the same service. */
export const accountsQuery = ({ name, baseUrl }: LedgerAccount): [string, Value[]] => [
  'SELECT name, base_url FROM accounts WHERE name = ? OR base_url = ? ORDER BY name',
  [name, baseUrl === undefined ? '' : comparable(baseUrl)],
];

/** Refuses an account that belongs to another service. One that is new is written down by its first order. */
export function checkAccount(known: readonly AccountRow[], { name, baseUrl }: LedgerAccount): void {
  const own = known.find((row) => row.name === name);
  if (!own || baseUrl === undefined || own.base_url === comparable(baseUrl)) return;
  throw usage(
    `account ${name} of the shared ledger belongs to ${own.base_url}, not to ${baseUrl}`,
    `choose another account: steno config set account <name>; if the service has moved: steno ledger account --base-url ${baseUrl}`,
  );
}

/**
 * Refuses what would make two accounts of one: a key that has another name, and an account that nobody chose where the
 * service has another one here.
 */
function checkOne({ account, accounts, keys }: KnownAccounts, mark: string | undefined): void {
  const { name, isChosen, baseUrl } = account;
  const others = accounts.filter((row) => row.name !== name).map((row) => row.name);
  const [other] = others;
  if (!isChosen && baseUrl !== undefined && other !== undefined)
    throw usage(
      `the shared ledger knows ${baseUrl} as account ${others.join(', ')}, but no account is set here (the default is ${name})`,
      `if it is the same account: steno config set account ${other} (or STENO_ACCOUNT=${other}); if not: steno config set account ${name}`,
    );
  if (mark !== undefined) isNewKey(keys, { name, mark, isShared: true });
}

/** Before the first order of an account: writes down which service it belongs to; before that with a key, whose it is. */
async function registerAccount(db: Store, known: KnownAccounts, mark: string | undefined): Promise<void> {
  const { account } = known;
  const { name, baseUrl } = account;
  checkOne(known, mark);
  const user = mark === undefined ? undefined : { name, mark, isShared: true };
  const isKnown = baseUrl === undefined || known.accounts.some((row) => row.name === name);
  if (isKnown) return user && takeKey(db, user, known.keys);
  if (await addAccount(db, account, user && isNewKey(known.keys, user) ? user : undefined)) return;
  // Another machine was the first at the same moment: of names that nobody chose, a service has one.
  const [sql, values] = accountsQuery(account);
  const accounts = await db.all<AccountRow>(sql, ...values);
  checkAccount(accounts, account);
  checkOne({ account, accounts, keys: await db.all<KeyRow>(KEY_ROWS) }, mark);
}

/** One statement, so that a name that is refused leaves nothing behind; false where it, or its key, is there already. */
async function addAccount(
  db: Store,
  { name, baseUrl = '', isChosen }: LedgerAccount,
  user: KeyUser | undefined,
): Promise<boolean> {
  const account = 'INSERT INTO accounts (name, base_url, first_used_at, chosen) VALUES (?, ?, ?, ?)';
  const values = [name, comparable(baseUrl), new Date().toISOString(), Number(isChosen)];
  try {
    if (user)
      await db.run(
        `WITH added AS (${account} RETURNING name) INSERT INTO properties (name, value) SELECT ?, name FROM added`,
        ...values,
        keyProperty(user.mark),
      );
    else await db.run(account, ...values);
    return true;
  } catch (error) {
    if (isRefusedRow(error)) return false;
    throw error;
  }
}

/** Moves an account to another service. */
export const changeBaseUrl = (db: Store, name: string, baseUrl: string): Promise<number> =>
  db.run(
    `INSERT INTO accounts (name, base_url, first_used_at) VALUES (?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET base_url = excluded.base_url, chosen = 1`,
    name,
    comparable(baseUrl),
    new Date().toISOString(),
  );
