/** What the service has said that the latest files cost. */
import { Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { BilledFile } from './samples.ts';

/** Older ones say little about the next order. */
const MAX_FILES = 500;

/** `onlyUnderBudget`: none where the ledger has no budget. */
export async function billedFiles(ledger: Ledger, onlyUnderBudget = false): Promise<BilledFile[]> {
  const rows = await new Files(ledger).page({ states: ['Delivered'], onlyUnderBudget }, MAX_FILES);
  return rows.flatMap(({ id, skus, duration, total, ordered_at: ordered, test }) =>
    test ? [] : [{ id, skus: skus ? skus.split(',') : [], ordered, duration, total }],
  );
}
