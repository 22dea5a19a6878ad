/** All that is known of a file, from the ledger, from the service, or both: what commands print of it. */
import { resolve } from 'node:path';
import type { AudioFile } from '../../api/files.ts';
import type { Download } from '../../ledger/downloads.ts';
import type { StenoError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json.ts';
import { cutJsonSignatures } from '../../lib/json-signatures.ts';
import type { Outcome } from '../bulk.ts';
import type { Saved } from '../transcripts/save.ts';
import type { KnownFiles } from './known.ts';
import { type ListedFile, unknownFile, withAnswer } from './listed.ts';
import type { Tracked } from './track.ts';
import type { WaitResult } from './wait-and-download.ts';

export interface ShownFile {
  readonly row: ListedFile;
  readonly downloads: readonly Download[];
  /** Of a total that names none; empty where it is not known. */
  readonly currency: string;
  /** What the service said now, in place of what the ledger keeps. */
  readonly answer?: Json;
  readonly error?: StenoError | undefined;
}

interface FileSources extends Pick<ShownFile, 'currency' | 'error'> {
  /** The id that was asked about. */
  readonly what: string;
  /** What the service said of it, if it did. */
  readonly file: AudioFile | undefined;
  readonly known: KnownFiles;
  readonly saved: readonly Saved[];
  /** What is known of it where the ledger knows nothing. */
  readonly otherwise?: ListedFile;
}

export function shownFile({ what, file, error, known, saved, currency, otherwise }: FileSources): ShownFile {
  const row = known.rows.get(what) ?? otherwise;
  return {
    // The id that was asked about is its name, whatever the answer calls it.
    row: { ...(file ? withAnswer(row, file) : (row ?? unknownFile)), id: what },
    downloads: allDownloads(known.downloads.get(what) ?? [], saved, what),
    currency,
    error,
    ...(file && { answer: cutJsonSignatures(file.json) }),
  };
}

/** Those of the ledger, and what was written now and is not there. */
function allDownloads(noted: readonly Download[], saved: readonly Saved[], id: string): Download[] {
  const paths = new Set(noted.map(({ path }) => path));
  const written = saved
    .filter((each) => each.id === id && !paths.has(resolve(each.path)))
    .map(({ ext, path, bytes, at }) => ({ ...{ file: id, ext, bytes, at: at ?? '' }, path: resolve(path) }));
  return [...noted, ...written];
}

/** What waiting came to, a file each. */
export const waitedFiles = (
  { outcomes, saved = [] }: WaitResult,
  known: KnownFiles,
  currency: string,
): ShownFile[] =>
  outcomes.map(({ what, file, error }) => shownFile({ what, file, error, known, saved, currency }));

/** What was taken in, and what could not be. */
export const trackedFiles = (outcomes: readonly Outcome<Tracked>[], currency: string): ShownFile[] =>
  outcomes.map(({ what, value, error }) =>
    value
      ? { ...value, currency }
      : { row: { ...unknownFile, id: what }, downloads: [], currency, answer: null, error },
  );
