/** What the service has said that the latest files cost. */
import { decodeKeptFile } from '../../api/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { BilledFile } from './samples.ts';

/** Older ones say little about the next order. */
const MAX_FILES = 500;

export async function billedFiles(ledger: Ledger): Promise<BilledFile[]> {
  const rows = await ledger.files.page({ states: ['Delivered'] }, MAX_FILES);
  return rows.flatMap(({ id, answer, skus, ordered_at: ordered, test }) => {
    const file = test ? undefined : decodeKeptFile(answer, id);
    return file ? [{ id, skus: skus ? skus.split(',') : [], ordered, ...file }] : [];
  });
}
