import type { Transport } from '../../api/http/transport.ts';
import type { Download } from '../../ledger/downloads.ts';
import type { FileFilter, FileRow } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Outcome } from '../bulk.ts';
import { type RefreshedFile, refreshFiles } from './refresh.ts';

const PAGE = 200;
/** People want one table with one header. */
const LARGEST_TABLE = 2000;

export interface KnownFiles {
  readonly rows: readonly FileRow[];
  /** By file; a question to the ledger, for those who show them. */
  readonly downloads: () => ReadonlyMap<string, readonly Download[]>;
}

/** Pages of files, newest first: no more than one is in memory, however many there are. */
export function* listFiles(
  ledger: Ledger,
  filter: FileFilter,
  limit: number,
  asTable: boolean,
): Generator<KnownFiles> {
  const size = asTable ? LARGEST_TABLE : PAGE;
  let before: number | undefined;
  for (let left = limit; left > 0; left -= size) {
    const rows = ledger.files.page(filter, Math.min(size, left), before);
    if (rows.length) yield { rows, downloads: () => ledger.downloads.forFiles(rows.map(({ id }) => id)) };
    if (rows.length < size) return;
    before = rows.at(-1)?.seq;
  }
}

/** Asks the service about every file of the listing that may have changed. */
export const refreshOpenFiles = (
  transport: Transport,
  ledger: Ledger,
  filter: FileFilter,
): Promise<Outcome<RefreshedFile>[]> =>
  // States are filtered after the refresh, because the refresh changes them.
  refreshFiles(transport, ledger, ledger.files.open({ ...filter, states: [] }));
