/** Copies what one ledger knows of an account into another one. */
import { StenoError } from '../lib/errors.ts';
import type { ImportOptions, TableCounts } from './dump/import.ts';
import { noRows } from './dump/merge.ts';
import { dumpTables } from './dump/tables.ts';
import type { Ledger } from './ledger.ts';
import type { LedgerTables } from './ledger-tables.ts';
import type { Moved } from './moved.ts';
import { CommitUnknown } from './store.ts';

export type CopyOptions = Pick<ImportOptions, 'signal' | 'dryRun' | 'report'>;

/**
 * Moves a local ledger to a shared one. The mark comes first, in the transaction that finds that nothing is being sent:
 * an order that begins before it is seen and stops the copy, one that begins after it is refused. So the copy has all
 * orders there will ever be. Where the copy certainly did not come through, the mark is taken back. Until it is known to
 * have come through, the mark says so: the shared ledger may be empty, and would let everything be bought again.
 */
export async function moveTo(
  shared: Ledger,
  local: Ledger,
  moved: Moved,
  options: CopyOptions,
): Promise<TableCounts[]> {
  if (options.dryRun) {
    await local.transaction(refuseUnsafeMove);
    return copy(local, shared, options);
  }
  const before = await local.moved();
  await local.markMoved(moved, refuseUnsafeMove);
  const counts = await copy(local, shared, options).catch(async (error: unknown) => {
    // A mark that was there before tells of an earlier copy, which others may have ordered with since.
    if (!before && !(error instanceof CommitUnknown)) await local.unmarkMoved();
    throw error;
  });
  await local.finishMove();
  return counts;
}

/** What a copy into a ledger without tables would bring. */
export async function countRows(ledger: Ledger): Promise<TableCounts[]> {
  const counts = new Map(dumpTables.map(({ name }) => [name, 0]));
  for await (const lines of ledger.exportLines(false)) {
    for (const [, table = ''] of lines.matchAll(/^\{"table":"(\w+)"/gm))
      counts.set(table, (counts.get(table) ?? 0) + 1);
  }
  return [...counts].map(([table, rows]) => ({ table, ...noRows, new: rows }));
}

/** Copies a shared ledger back to the local one, which may be ordered with from then on. */
export async function bringBack(local: Ledger, shared: Ledger, options: CopyOptions): Promise<TableCounts[]> {
  await refuseWhileSending(shared);
  return copy(shared, local, { ...options, finally: (store) => local.unmarkMoved(store) });
}

function copy(from: Ledger, to: Ledger, options: ImportOptions): Promise<TableCounts[]> {
  return to.importLines(bytesOf(from.exportLines(false)), { ...options, as: to.profile });
}

async function* bytesOf(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const some of lines) yield Buffer.from(some);
}

async function refuseUnsafeMove(tables: LedgerTables): Promise<void> {
  await refuseWhileSending(tables);
  const { length } = await tables.runs.running();
  if (length)
    throw new StenoError('failed', 'a listener of this profile is at work', {
      hint: 'stop it first: what it receives would go into the ledger that is left behind; nothing was copied',
    });
}

/** The copy of an attempt would never learn how it ended. */
async function refuseWhileSending(tables: LedgerTables): Promise<void> {
  const count = await tables.openAttempts.countBeingSent();
  if (count)
    throw new StenoError('failed', 'an order is being sent right now', {
      hint: 'try again when it has ended (steno attempts lists it); nothing was copied',
    });
}
