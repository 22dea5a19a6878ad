/** The files of the ledger, in pages, after a refresh where that is asked for. */
import type { Transport } from '../../api/http/transport.ts';
import { type Download, Downloads } from '../../ledger/downloads.ts';
import { type FileFilter, Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Report } from '../../lib/progress.ts';
import type { Tally } from '../bulk.ts';
import { type ListedFile, listed } from './listed.ts';
import { refreshMany } from './refresh.ts';

const PAGE_SIZE = 200;
/** A page on a terminal is a table with its own header and widths, so there a page holds more. */
const TABLE_PAGE_SIZE = 2000;

export interface FilePage {
  readonly rows: readonly ListedFile[];
  /** By the id of the file. */
  readonly downloads: ReadonlyMap<string, readonly Download[]>;
}

export interface ListOptions {
  readonly limit: number;
  readonly asTable: boolean;
  /** Without it, downloads are not read and the map is empty. */
  readonly withDownloads: boolean;
}

/** Newest first, one page in memory at a time. */
export async function* listFiles(
  ledger: Ledger,
  filter: FileFilter,
  { limit, asTable, withDownloads }: ListOptions,
): AsyncGenerator<FilePage> {
  const size = asTable ? TABLE_PAGE_SIZE : PAGE_SIZE;
  let before: number | undefined;
  for (let left = limit; left > 0; left -= size) {
    const rows = await new Files(ledger).page(filter, Math.min(size, left), before);
    const ids = withDownloads ? rows.map(({ id }) => id) : [];
    if (rows.length) yield { rows: rows.map(listed), downloads: await new Downloads(ledger).forFiles(ids) };
    if (rows.length < size) return;
    before = rows.at(-1)?.seq;
  }
}

/** Asks the service about every file of the listing that may have changed. */
export const refreshOpenFiles = async (
  transport: Transport,
  ledger: Ledger,
  filter: FileFilter,
  report?: Report,
): Promise<Tally> =>
  // States are filtered after the refresh, because the refresh changes them.
  refreshMany(transport, ledger, await new Files(ledger).toRefresh({ ...filter, states: [] }), { report });
