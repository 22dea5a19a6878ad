/** A file of the ledger as it is listed. */
import { decodeKeptFile } from '../../api/files.ts';
import { parseDetails } from '../../ledger/audio-details.ts';
import type { FileRow } from '../../ledger/files.ts';

export interface ListedFile extends FileRow {
  /** How long its audio is in minutes, as the service says it; empty where that is not known. */
  readonly duration: string;
  /** The same by the service, else by its feed or file; empty where that is not known. */
  readonly minutes: string;
  /** What it costs, as the service says it; empty where that is not known. */
  readonly total: string;
}

export function listed(row: FileRow): ListedFile {
  const { duration = '', total = '' } = decodeKeptFile(row.answer, row.id) ?? {};
  return { ...row, duration, minutes: duration || minutesOf(parseDetails(row.details).seconds), total };
}

const minutesOf = (seconds: number | undefined): string =>
  seconds === undefined ? '' : String(Math.round(seconds / 0.6) / 100);
