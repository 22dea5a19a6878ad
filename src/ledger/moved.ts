/**
 * The mark of a local ledger whose rows were copied into a shared one: from then on nothing is ordered with it, nor
 * taken into it that only the ledger knows. It is looked at in the transaction that would write, so that no order slips
 * through between the mark and the copy.
 */
import { type StenoError, usage } from '../lib/errors.ts';
import { quotedWord } from '../lib/shell-word.ts';
import { Properties } from './properties.ts';
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

/** It may be ordered with again. */
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
    ? `the copy of this ledger to ${to} broke off (${at}): nothing is ordered with either until it is done`
    : `this ledger has moved to ${to} (${at}): nothing is ordered with it any more`;

/** With an unfinished copy the shared ledger would let everything be bought again. */
export const movedHint = (moved: Moved): string =>
  moved.unfinished
    ? `finish it, with the same settings: steno ledger copy --to ${quotedWord(moved.to)}; ${GONE_HINT}`
    : `use the shared one: ${useIt(moved.to, moved.account)}; or come back: ${comeBack(moved)}; ${GONE_HINT}`;

/** What brings everything back from the shared ledger. */
export const comeBack = ({ to, account }: Moved): string =>
  `STENO_LEDGER=${quotedWord(to)} STENO_ACCOUNT=${account} steno ledger copy --to local`;

/** What is said where it is only read, and what to do. */
export const movedNotice = (moved: Moved): [string, string?] =>
  moved.unfinished
    ? [movedText(moved), movedHint(moved)]
    : [`this ledger has moved to ${moved.to}: it does not know what was ordered since`];

/** What makes steno use a shared ledger. */
export const useIt = (to: string, account: string): string =>
  `steno config set ledger ${quotedWord(to)} && steno config set account ${account}`;
