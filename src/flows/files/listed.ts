/** A file of the ledger as it is listed. */

import type { AudioFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import { targetDaysOf } from '../../catalog/skus.ts';
import { findFileState } from '../../catalog/states.ts';
import { type Download, Downloads } from '../../ledger/downloads.ts';
import { type FileFilter, type FileRow, Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type AudioDetails, audioRowOf, audioTitle, detailsOf } from '../../ledger/purchase.ts';
import type { Report } from '../../lib/progress.ts';
import { cutSignatures, withoutSignature } from '../../lib/signatures.ts';
import type { Tally } from '../bulk.ts';
import { refreshMany } from './refresh.ts';

export interface ListedFile extends FileRow {
  /** The same by the service, else by its feed or file; empty where that is not known. */
  readonly minutes: string;
  /** What its feed or file says; an episode has the title of its feed. */
  readonly audio: AudioDetails;
  /** When the transcript of an open file is to be there; empty where nobody knows. */
  readonly due_at: string;
  /** It was upgraded, and the delivery that its state names is the one before that. */
  readonly isReopened: boolean;
}

export function listed(row: FileRow): ListedFile {
  const { ended, test, hold, skus, upgraded_at, ordered_at } = row;
  const audio = detailsOf(row);
  const minutes = row.duration || minutesOf(audio.seconds);
  const isOpen = !ended && test === 0 && !hold;
  const due_at = isOpen ? dueAt(skus ? skus.split(',') : [], upgraded_at ?? ordered_at) : '';
  const title = audioTitle(row.title, audio, row.url ?? '');
  return { ...row, audio, minutes, due_at, title, isReopened: isReopened(row) };
}

const isReopened = ({ ended, state, upgraded_at }: FileRow): boolean =>
  !ended && upgraded_at !== null && findFileState(state)?.end === 'delivered';

const DAY_MS = 86_400_000;

/** By the target of its SKU. */
export function dueAt(skus: readonly string[], from: string): string {
  const due = Date.parse(from) + (targetDaysOf(skus) ?? Number.NaN) * DAY_MS;
  return Number.isNaN(due) ? '' : new Date(due).toISOString();
}

const minutesOf = (seconds: number | undefined): string =>
  seconds === undefined ? '' : String(Math.round(seconds / 0.6) / 100);

/** A file of which the ledger knows nothing. */
export const unknownFile: ListedFile = {
  ...{
    seq: 0,
    id: '',
    purchase: '',
    order_id: '',
    url: '',
    assumed: 0,
    test: 0,
    state: '',
    ended: '',
    title: '',
    invoices: '',
  },
  ...{
    ordered_at: '',
    changed_at: null,
    checked_at: null,
    heard_at: null,
    remark: '',
    hint: '',
    answer: null,
    due_at: '',
  },
  ...{ skus: null, names: null, notes: null, hold: null, user: null, host: null, job: null, actor: null },
  ...{
    ...audioRowOf({}, String),
    key: '',
    audio: {},
    isReopened: false,
    duration: '',
    minutes: '',
    total: '',
    upgraded_at: null,
  },
};

/** What the ledger knows of a file, with what the service says of it now. */
export function withAnswer(row: ListedFile | undefined, file: AudioFile): ListedFile {
  const known = row ?? {
    ...unknownFile,
    order_id: file.orders[0] ?? '',
    names: cutSignatures(file.names),
    notes: cutSignatures(file.notes),
  };
  const state = findFileState(file.state);
  // After an upgrade, the state of the delivery before it is not its end.
  const ended = row && row.state === state?.name ? row.ended : (state?.end ?? '');
  const now = { ...known, id: file.id, state: state?.name ?? file.state, ended };
  return {
    ...now,
    isReopened: isReopened(now),
    due_at: ended ? '' : known.due_at,
    title: audioTitle(cutSignatures(file.title) || known.title, known.audio, file.originalLink),
    url: known.url || withoutSignature(file.originalLink),
    invoices: file.invoices.join(',') || known.invoices,
    duration: file.duration,
    minutes: file.duration || known.minutes,
    total: file.total,
  };
}

// What the ledger has of some files.

/** By the id of the file. */
export interface KnownFiles {
  readonly rows: ReadonlyMap<string, ListedFile>;
  readonly downloads: ReadonlyMap<string, readonly Download[]>;
}

export const nothingKnown: KnownFiles = { rows: new Map(), downloads: new Map() };

/** A ledger that can't be read stops nothing: what was done is to be shown, and the warning of it has come before. */
export async function knownFiles(ledger: Ledger | undefined, ids: readonly string[]): Promise<KnownFiles> {
  if (!ledger || ids.length === 0) return nothingKnown;
  try {
    // Together, because a shared ledger then answers both in one round trip.
    const [rows, downloads] = await Promise.all([
      new Files(ledger).getAll(ids),
      new Downloads(ledger).forFiles(ids),
    ]);
    return { rows: new Map([...rows].map(([id, row]) => [id, listed(row)])), downloads };
  } catch {
    return nothingKnown;
  }
}

// The files of the ledger, in pages, after a refresh where that is asked for.

const PAGE_SIZE = 200;
/** A page on a terminal is a table with its own header and widths, so there a page holds more. */
const TABLE_PAGE_SIZE = 2000;

export interface FilePage extends Pick<KnownFiles, 'downloads'> {
  readonly rows: readonly ListedFile[];
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

/** The most that a listing on a terminal asks about by itself. */
const FRESH_FILES = 50;

/** Asks the service about the newest open files of the listing. */
export const refreshNewest = async (
  transport: Transport,
  ledger: Ledger,
  filter: FileFilter,
): Promise<Tally> => {
  const open = await new Files(ledger).open({ ...filter, states: [] });
  return refreshMany(transport, ledger, open.slice(-FRESH_FILES).reverse());
};

/** Asks the service about every file of the listing that may have changed. */
export const refreshOpenFiles = async (
  transport: Transport,
  ledger: Ledger,
  filter: FileFilter,
  report?: Report,
): Promise<Tally> =>
  // States are filtered after the refresh, because the refresh changes them.
  refreshMany(transport, ledger, await new Files(ledger).toRefresh({ ...filter, states: [] }), { report });
