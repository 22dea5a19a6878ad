/** Takes files into the ledger that were ordered elsewhere. */
import { getFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import { type Download, Downloads } from '../../ledger/downloads.ts';
import { type FileRow, Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { TrackedFiles } from '../../ledger/tracked-files.ts';
import type { Report } from '../../lib/progress.ts';
import { doEach, type Outcome } from '../bulk.ts';
import { type ListedFile, listed } from './listed.ts';
import { keepAnswer, REFRESH_CONCURRENCY } from './refresh.ts';

export interface Tracked {
  readonly row: ListedFile;
  readonly downloads: readonly Download[];
}

/** Asks the service about each; one that is known is refreshed. */
export const trackFiles = (
  transport: Transport,
  ledger: Ledger,
  ids: readonly string[],
  report?: Report,
): Promise<Outcome<Tracked>[]> =>
  doEach(ids, REFRESH_CONCURRENCY, String, (id) => track(transport, ledger, id), report);

async function track(transport: Transport, ledger: Ledger, id: string): Promise<Tracked> {
  const file = await getFile(transport, id);
  const { orders, originalLink: link, names, notes } = file;
  await new TrackedFiles(ledger).add({ id, order: orders[0] ?? '', link, names, notes });
  await keepAnswer(ledger, id, file);
  const row = listed((await new Files(ledger).get(id)) as FileRow);
  return { row, downloads: (await new Downloads(ledger).forFiles([id])).get(id) ?? [] };
}
