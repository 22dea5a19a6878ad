/**
 * Orders of this machine's own ledger that a shared one does not know of: whoever sets a shared ledger would buy them
 * again. They are copied, or somebody states once that they do not belong to it.
 */
import { existsSync } from 'node:fs';
import { errorMessage, StenoError, usage } from '../lib/errors.ts';
import { quotedWord } from '../lib/shell-word.ts';
import { openUntouched } from '../lib/sqlite.ts';
import { plural } from '../lib/text.ts';
import type { Ledger } from './ledger.ts';
import { comeBack, type Moved, movedError, readMoved, useIt } from './moved.ts';
import { Properties } from './properties.ts';
import { rescueHint } from './stores/backups.ts';
import { SqliteStore } from './stores/sqlite.ts';
import type { TableContext } from './table.ts';

/** The shared ledger that is used in place of the local one. */
export interface SharedPlace {
  /** Tells it from every other, however its URL is spelled. */
  readonly identity: string;
  readonly account: string;
  /** Its URL without the password. */
  readonly to: string;
}

/** Of a local ledger: its orders are no concern of the shared one. */
export const leaveFor = (local: Ledger, { db, profile }: Ledger): Promise<number> =>
  new Properties(local).set(
    leftProperty(local.profile, { identity: db.identity, account: profile }),
    new Date().toISOString(),
  );

/** The property of a local ledger whose orders do not belong to a shared one. */
const leftProperty = (profile: string, { identity, account }: Omit<SharedPlace, 'to'>): string =>
  `left ${profile} ${account} ${identity}`;

/** The ledger of this machine. */
export interface LocalPlace extends Omit<TableContext, 'db'> {
  readonly path: string;
  /** What a command line needs to name the profile: ` --profile acme`, or nothing. */
  readonly profileFlag: string;
}

/** Throws where the local ledger has orders that the shared one was not given. None is made, and nothing is written. */
export async function refuseLeftBehind(local: LocalPlace, shared: SharedPlace): Promise<void> {
  if (!existsSync(local.path)) return;
  const found = await lookAt(local, shared).catch((error: unknown) => {
    throw unreadable(local.path, error);
  });
  const { orders, moved, isLeft } = found;
  if (orders === 0 || isLeft) return;
  if (moved?.unfinished) throw movedError(moved);
  if (moved?.identity === shared.identity && moved.account === shared.account) return;
  throw moved ? movedElsewhere(moved, orders, local) : neverCopied(orders, local, shared);
}

interface Found {
  /** How many that cost something, with those whose end is not known. */
  readonly orders: number;
  readonly moved: Moved | undefined;
  readonly isLeft: boolean;
}

async function lookAt({ path, ...context }: LocalPlace, shared: SharedPlace): Promise<Found> {
  const database = await openUntouched(path, () => rescueHint(path));
  try {
    const tables = { ...context, db: new SqliteStore(database) };
    return {
      orders: await countOrders(tables),
      moved: await readMoved(tables),
      isLeft: (await new Properties(tables).get(leftProperty(context.profile, shared))) !== undefined,
    };
  } finally {
    database.close();
  }
}

/** Those that cost something, with those whose end is not known. */
async function countOrders({ db, profile }: TableContext): Promise<number> {
  const row = await db.get<{ n: number }>(
    "SELECT count(*) AS n FROM purchases WHERE profile = ? AND kind = 'order' AND test = 0 AND status <> 'refused'",
    profile,
  );
  return row?.n ?? 0;
}

const neverCopied = (
  orders: number,
  { path, profileFlag }: LocalPlace,
  { to, account }: SharedPlace,
): StenoError =>
  usage(
    `the ledger of this machine (${path}) has ${plural(orders, 'order')} that the shared ledger may not know of, and that could be bought again`,
    `copy to the shared ledger: steno ledger copy --to ${quotedWord(to)}${profileFlag}; ` +
      `if this is not account ${account}: ${leaveLocal(profileFlag)}`,
  );

const movedElsewhere = (moved: Moved, orders: number, { path, profileFlag }: LocalPlace): StenoError =>
  usage(
    `the ledger of this machine (${path}) has moved to ${moved.to} as account ${moved.account}: its ${plural(orders, 'order')} may be missing from the shared ledger that is set, and could be bought again`,
    `use that one: ${useIt(moved.to, moved.account)}; or come back, and copy it here: ${comeBack(moved)}; ` +
      `if already known here, or of another account: ${leaveLocal(profileFlag)}`,
  );

const leaveLocal = (profileFlag: string): string => `steno ledger account --leave-local${profileFlag}`;

const unreadable = (path: string, error: unknown): StenoError => {
  const { hint } = error instanceof StenoError ? error : {};
  return new StenoError(
    'failed',
    `nothing was ordered: can't check this machine's ledger for orders missing from the shared one: ${errorMessage(error)}`,
    { hint: hint ?? `try again; if you no longer need that ledger, move ${path} away`, cause: error },
  );
};
