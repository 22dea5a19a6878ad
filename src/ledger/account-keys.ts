/**
 * Which account or profile orders with which key: one that gets a second name would buy again what it has on order under
 * the first. A ledger keeps a salted mark of service and key, never the key, and remembers who first used it.
 */
import { type StenoError, usage } from '../lib/errors.ts';
import type { Store } from './store.ts';

/** Names of properties begin with these. */
const KEY = 'key ';
const SEPARATE = 'separate ';

export interface KeyRow {
  readonly name: string;
  readonly value: string;
}

/** All that a ledger knows of keys: a row for each key that was ordered with, and for each two names that are two accounts. */
export const KEY_ROWS = `SELECT name, value FROM properties WHERE name LIKE '${KEY}%' OR name LIKE '${SEPARATE}%'`;

export const keyProperty = (mark: string): string => KEY + mark;

/** The property that says that two names are two accounts, whatever their keys. */
export const separateProperty = (one: string, other: string): string =>
  SEPARATE + [one, other].sort().join(' ');

export const keyOwners = (rows: readonly KeyRow[]): string[] => [
  ...new Set(rows.filter(({ name }) => name.startsWith(KEY)).map(({ value }) => value)),
];

/** Who uses the key. */
export interface KeyUser {
  /** The account or profile. */
  readonly name: string;
  readonly mark: string;
  readonly isShared: boolean;
}

/** Throws where the key is known under another name that nobody has told apart; gives whether it is not known yet. */
export function isNewKey(rows: readonly KeyRow[], { name, mark, isShared }: KeyUser): boolean {
  const owner = rows.find((row) => row.name === keyProperty(mark))?.value;
  if (owner === undefined || owner === name) return owner === undefined;
  if (rows.some((row) => row.name === separateProperty(owner, name))) return false;
  throw isShared ? secondAccount(owner, name) : secondProfile(owner, name);
}

/** Writes down who uses the key, where that is not known yet; `rows`: what the ledger knew a moment ago. */
export async function takeKey(db: Store, user: KeyUser, rows: readonly KeyRow[]): Promise<void> {
  if (!isNewKey(rows, user)) return;
  const sql = 'INSERT INTO properties (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING';
  const added = await db.run(sql, keyProperty(user.mark), user.name);
  // Another process was the first at the same moment.
  if (added === 0) isNewKey(await db.all<KeyRow>(KEY_ROWS), user);
}

/** Says that two names are two accounts; the other must be one that the ledger knows. */
export async function keepSeparate(db: Store, name: string, other: string): Promise<void> {
  const known = keyOwners(await db.all<KeyRow>(KEY_ROWS)).filter((owner) => owner !== name);
  if (!known.includes(other))
    throw usage(
      `no orders were placed as '${other}' with this ledger`,
      known.length ? `there are: ${known.sort().join(', ')}` : 'the ledger knows no other account',
    );
  const sql = "INSERT INTO properties (name, value) VALUES (?, '') ON CONFLICT DO NOTHING";
  await db.run(sql, separateProperty(name, other));
}

const secondAccount = (owner: string, name: string): StenoError =>
  usage(
    `the shared ledger knows this service and key as account ${owner}: as account ${name}, what ${owner} has on order could be bought again`,
    `use that account: steno config set account ${owner} (or STENO_ACCOUNT=${owner}); ` +
      `if ${name} is an account of its own: steno ledger account --separate-from ${owner}`,
  );

const secondProfile = (owner: string, name: string): StenoError =>
  usage(
    `profile ${owner} orders with the same service and key: as profile ${name}, what ${owner} has on order could be bought again`,
    `use that profile: --profile ${owner}; ` +
      `if ${name} is an account of its own: steno ledger account --separate-from ${owner} --profile ${name}`,
  );
