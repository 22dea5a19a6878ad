/** Copies what one ledger knows of an account into another one. */
import { StenoError } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';
import { dumpTables } from '../dump-tables.ts';
import type { Ledger } from '../ledger.ts';
import { finishMove, type Moved, markMoved, readMoved, unmarkMoved } from '../moved.ts';
import { OpenAttempts } from '../open-attempts.ts';
import { Runs } from '../runs.ts';
import { CommitUnknown } from '../stores/store.ts';
import type { TableContext } from '../table.ts';
import { exportedLines } from './export.ts';
import { type ImportOptions, importLines, type TableCounts } from './import.ts';
import { noRows } from './merge.ts';

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
  const before = await readMoved(local);
  await markMoved(local, moved, refuseUnsafeMove);
  const counts = await copy(local, shared, options).catch(async (error: unknown) => {
    // A mark that was there before tells of an earlier copy, which others may have ordered with since.
    if (!before && !(error instanceof CommitUnknown)) await unmarkMoved(local);
    throw error;
  });
  await finishMove(local);
  return counts;
}

/** What a copy into a ledger without tables would bring. */
export async function countRows(ledger: Ledger): Promise<TableCounts[]> {
  const counts = new Map(dumpTables.map(({ name }) => [name, 0]));
  for await (const lines of exportedLines(ledger)) {
    for (const [, table = ''] of lines.matchAll(/^\{"table":"(\w+)"/gm))
      counts.set(table, (counts.get(table) ?? 0) + 1);
  }
  return [...counts].map(([table, rows]) => ({ table, ...noRows, new: rows }));
}

/** Copies a shared ledger back to the local one, which may be ordered with from then on. */
export async function bringBack(local: Ledger, shared: Ledger, options: CopyOptions): Promise<TableCounts[]> {
  await refuseWhileSending(shared);
  return copy(shared, local, { ...options, finally: (db) => unmarkMoved({ ...local, db }) });
}

function copy(from: Ledger, to: Ledger, options: ImportOptions): Promise<TableCounts[]> {
  return importLines(to, bytesOf(exportedLines(from)), { ...options, as: to.profile });
}

async function* bytesOf(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const some of lines) yield Buffer.from(some);
}

/** What belongs to listeners stays behind: nothing of it may be left to do. */
async function refuseUnsafeMove(tables: TableContext): Promise<void> {
  await refuseWhileSending(tables);
  const { length } = await new Runs(tables).running();
  if (length)
    throw new StenoError('failed', 'a listener of this profile is running', {
      hint: 'stop it first, because its events would go to the old ledger; nothing was copied',
    });
  const waiting = await tables.db.get<{ n: number }>(
    `SELECT count(*) AS n FROM actions WHERE status = 'pending'
       AND EXISTS (SELECT 1 FROM events WHERE events.id = actions.event AND profile = ?)`,
    tables.profile,
  );
  if (waiting?.n)
    throw new StenoError('failed', `steno listen has left ${plural(waiting.n, 'action')} unfinished`, {
      hint: 'start the same steno listen again, let it finish, and stop it; nothing was copied',
    });
}

/** The copy of an attempt would never learn how it ended. */
async function refuseWhileSending(tables: TableContext): Promise<void> {
  const count = await new OpenAttempts(tables).countBeingSent();
  if (count)
    throw new StenoError('failed', 'an order is being sent right now', {
      hint: 'try again when it has finished (see: steno attempts); nothing was copied',
    });
}
