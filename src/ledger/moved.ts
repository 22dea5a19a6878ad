/**
 * The mark of a local ledger whose rows were copied into a shared one: from then on nothing is ordered with it, nor
 * taken into it that only the ledger knows. It is looked at in the transaction that would write, so that no order slips
 * through between the mark and the copy.
 */

import { existsSync } from 'node:fs';
import { errorMessage, StenoError, usage } from '../lib/errors.ts';
import { openUntouched } from '../lib/sqlite.ts';
import { plural, quotedWord } from '../lib/text.ts';
import { timeAgo } from '../lib/time.ts';
import type { Ledger } from './ledger.ts';
import { Properties } from './properties.ts';
import { restoreHint } from './stores/backups.ts';
import { SqliteStore } from './stores/sqlite.ts';
import { GONE_HINT, type Statement, type Store } from './stores/store.ts';
import type { TableContext } from './table.ts';

export interface Moved {
  /** The URL of the shared ledger, without its password. */
  readonly to: string;
  /** Tells that ledger from every other, however its URL is spelled. */
  readonly identity: string;
  readonly account: string;
  readonly at: string;
  /** The copy has begun and is not known to have ended: the shared ledger may have nothing of it. */
  readonly unfinished?: boolean;
}

/** The name of the property. */
export const movedMark = (profile: string): string => `moved ${profile}`;

/** Where a profile has moved to; undefined if it has not. */
export async function readMoved(context: TableContext): Promise<Moved | undefined> {
  // Only a local one can have moved: over a network the question would cost a round trip.
  if (context.db.isShared) return undefined;
  const text = await new Properties(context).get(movedMark(context.profile));
  return text === undefined ? undefined : (JSON.parse(text) as Moved);
}

const setMoved = (context: TableContext, moved: Moved): Promise<number> =>
  new Properties(context).set(movedMark(context.profile), JSON.stringify(moved));

/** Allow orders with this ledger again. */
export const unmarkMoved = (context: TableContext): Promise<number> =>
  new Properties(context).remove(movedMark(context.profile));

/** Marks a profile as about to move, if the check finds nothing against it; on disk when this resolves. */
export function markMoved(
  ledger: TableContext,
  moved: Moved,
  check: (tables: TableContext) => Promise<void>,
): Promise<void> {
  return ledger.db.durable(async (db) => {
    const context = { ...ledger, db };
    const before = await readMoved(context);
    if (before && (before.identity !== moved.identity || before.account !== moved.account))
      throw movedError(before);
    await check(context);
    if (!before) await setMoved(context, { ...moved, unfinished: true });
  });
}

/** All rows are in the shared ledger: from now on people are sent there. */
export async function finishMove(ledger: TableContext): Promise<void> {
  await ledger.db.durable(async (db) => {
    const context = { ...ledger, db };
    const { unfinished, ...moved } = (await readMoved(context)) ?? {};
    if (unfinished) await setMoved(context, moved as Moved);
  });
}

/** As a part of a batch: undoes it where the mark is there. */
export const unlessMoved = (profile: string): Statement => ({
  sql: 'UPDATE properties SET value = value WHERE name = ?',
  values: [movedMark(profile)],
  expects: 0,
});

/** Throws where what is written now would be missing from the ledger that took the place of this one. */
export async function refuseMoved(db: Store, profile: string): Promise<void> {
  const moved = await readMoved({ db, profile, hide: (text) => text });
  if (moved) throw movedError(moved);
}

export const movedError = (moved: Moved): StenoError => usage(movedText(moved), movedHint(moved));

/** What a person is told of a ledger that may not be ordered with. */
export const movedText = ({ to, at, unfinished }: Moved): string =>
  unfinished
    ? `the copy of this ledger to ${to} was interrupted ${timeAgo(at)}: neither ledger takes orders until it is finished`
    : `this ledger moved to ${to} ${timeAgo(at)}: it takes no more orders`;

/** With an unfinished copy the shared ledger would let everything be bought again. */
export const movedHint = (moved: Moved): string =>
  moved.unfinished
    ? `finish it with the same settings: steno ledger copy --to ${quotedWord(moved.to)}; ${GONE_HINT}`
    : `use the shared one: ${useIt(moved.to, moved.account)}; or move back: ${comeBack(moved)}; ${GONE_HINT}`;

/** What brings everything back from the shared ledger. */
export const comeBack = ({ to, account }: Moved): string =>
  `STENO_LEDGER=${quotedWord(to)} STENO_ACCOUNT=${account} steno ledger copy --to local`;

/** What is said where it is only read, and what to do. */
export const movedNotice = (moved: Moved): [string, string?] =>
  moved.unfinished
    ? [movedText(moved), movedHint(moved)]
    : [`this ledger moved to ${moved.to}: it does not know later orders`];

/** What makes steno use a shared ledger. */
export const useIt = (to: string, account: string): string =>
  `steno config set ledger ${quotedWord(to)} && steno config set account ${account}`;

// Orders of this machine's own ledger that a shared one does not know of: whoever sets a shared ledger would buy them
// again. They are copied, or somebody states once that they do not belong to it.

/** The shared ledger that is used in place of the local one. */
export interface SharedPlace {
  /** Tells it from every other, however its URL is spelled. */
  readonly identity: string;
  readonly account: string;
  /** Its URL without the password. */
  readonly to: string;
}

/** Declare that local orders belong to another account. */
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
  throw leftBehind(found, local, shared);
}

interface Found {
  /** How many that cost something, with those whose end is not known. */
  readonly orders: number;
  readonly moved: Moved | undefined;
  readonly isLeft: boolean;
}

async function lookAt({ path, ...context }: LocalPlace, shared: SharedPlace): Promise<Found> {
  const database = await openUntouched(path, () => restoreHint(path));
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

function leftBehind(
  { orders, moved }: Found,
  { path, profileFlag }: LocalPlace,
  { to, account }: SharedPlace,
): StenoError {
  const copy = `steno ledger copy --to ${quotedWord(to)}${profileFlag}`;
  const [state, wayOut] = moved
    ? [
        `moved to ${moved.to} as account ${moved.account}, with`,
        `use that ledger: ${useIt(moved.to, moved.account)}; or move back and copy it here: ${comeBack(moved)}`,
      ]
    : ['has', `copy them: ${copy}`];
  return usage(
    `the ledger of this machine (${path}) ${state} ${plural(orders, 'order')} that the shared ledger may not know, and that could be placed twice`,
    `${wayOut}; if they do not belong to account ${account}: ${copy} --leave-local`,
  );
}

const unreadable = (path: string, error: unknown): StenoError => {
  const { hint } = error instanceof StenoError ? error : {};
  return new StenoError(
    'failed',
    `nothing was ordered: can't check this machine's ledger for orders missing from the shared one: ${errorMessage(error)}`,
    { hint: hint ?? `try again; if you no longer need that ledger, move ${path} away`, cause: error },
  );
};
