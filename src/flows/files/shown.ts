/** All that is known of a file, from the ledger, from the service, or both: what commands print of it. */

import { resolve } from 'node:path';
import { type AudioFile, type FileChange, getFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import { type Download, Downloads } from '../../ledger/downloads.ts';
import { type FileRow, Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { TrackedFiles } from '../../ledger/tracked-files.ts';
import type { LeftOutReason, StenoError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json.ts';
import type { Report } from '../../lib/progress.ts';
import { keepAnswer } from '../answer.ts';
import { doEach, groupBy, type Outcome, values } from '../bulk.ts';
import type { Saved } from '../transcripts/save.ts';
import { type KnownFiles, knownFiles, type ListedFile, listed, unknownFile, withAnswer } from './listed.ts';
import { REFRESH_CONCURRENCY } from './refresh.ts';
import type { WaitResult } from './wait.ts';

export interface ShownFile {
  readonly row: ListedFile;
  readonly downloads: readonly Download[];
  /** Of a total that names none; empty where it is not known. */
  readonly currency: string;
  /** What the service said now, in place of what the ledger keeps. */
  readonly answer?: Json;
  /** What was downloaded of it now, or was there already. */
  readonly saved?: readonly Saved[] | undefined;
  readonly error?: StenoError | undefined;
  /** Why it was not ordered, though nothing is wrong with it. */
  readonly leftOut?: LeftOutReason | undefined;
  /** It was on order before, and counts as ordered now. */
  readonly isExisting?: true | undefined;
}

interface FileSources extends Pick<ShownFile, 'currency' | 'error' | 'saved'> {
  /** The id that was asked about. */
  readonly what: string;
  /** What the service said of it, if it did. */
  readonly file?: AudioFile | undefined;
  readonly known: KnownFiles;
  /** What is known of it where the ledger knows nothing. */
  readonly otherwise?: ListedFile;
}

export function shownFile({ what, file, error, known, saved, currency, otherwise }: FileSources): ShownFile {
  const row = known.rows.get(what) ?? otherwise;
  return {
    // The id that was asked about is its name, whatever the answer calls it.
    row: { ...(file ? withAnswer(row, file) : (row ?? unknownFile)), id: what },
    downloads: allDownloads(known.downloads.get(what) ?? [], saved ?? []),
    ...{ currency, error, saved },
    ...(file && { answer: file.json }),
  };
}

/** Those of the ledger, and what was written now and is not there. */
function allDownloads(noted: readonly Download[], saved: readonly Saved[]): Download[] {
  const paths = new Set(noted.map(({ path }) => path));
  const written = saved
    .filter((each) => !paths.has(resolve(each.path)))
    .map(({ id, ext, path, bytes, at }) => ({ file: id, ext, bytes, at: at ?? '', path: resolve(path) }));
  return [...noted, ...written];
}

/** By the id of the file: to search all of them for each file would take time that grows with the square. */
export const savedByFile = (saved: readonly Saved[] = []): ReadonlyMap<string, readonly Saved[]> =>
  groupBy(saved, ({ id }) => id);

/** What the service said of files, and what was written of them: a document each. */
export function waitedFiles(
  { outcomes, saved }: WaitResult,
  known: KnownFiles,
  currency: string,
): ShownFile[] {
  const byFile = savedByFile(saved);
  return outcomes.map(({ what, file, error }) =>
    shownFile({ what, file, error, known, saved: byFile.get(what), currency }),
  );
}

/** What was taken in, and what could not be. */
export const trackedFiles = (outcomes: readonly Outcome<Tracked>[], currency: string): ShownFile[] =>
  outcomes.map(({ what, value, error }) =>
    value
      ? { ...value, currency }
      : { row: { ...unknownFile, id: what }, downloads: [], currency, answer: null, error },
  );

export type ChangedFile = ShownFile & Pick<FileChange, 'message'>;

/** Files that were upgraded or refunded, as the ledger knows them, with what the service answered to that. */
export async function changedFiles(
  ledger: Ledger | undefined,
  outcomes: readonly Outcome<FileChange>[],
  currency: string,
): Promise<Outcome<ChangedFile>[]> {
  const known = await knownFiles(
    ledger,
    values(outcomes).map(({ id }) => id),
  );
  return outcomes.map((outcome) => {
    if (outcome.error) return outcome;
    const { what, value } = outcome;
    const file = shownFile({ what, known, currency });
    return { what, value: { ...file, message: value.message, answer: value.json } };
  });
}

// Takes files into the ledger that were ordered elsewhere.

type Tracked = Pick<ShownFile, 'row' | 'downloads'>;

/** Asks the service about each; one that is known is refreshed. */
export const trackFiles = (
  transport: Transport,
  ledger: Ledger,
  ids: readonly string[],
  tags: readonly string[],
  report?: Report,
): Promise<Outcome<Tracked>[]> =>
  doEach(ids, REFRESH_CONCURRENCY, String, (id) => track(transport, ledger, id, tags), report);

async function track(
  transport: Transport,
  ledger: Ledger,
  id: string,
  tags: readonly string[],
): Promise<Tracked> {
  const file = await getFile(transport, id);
  const { orders, originalLink: link, names, notes } = file;
  await new TrackedFiles(ledger).add({ id, order: orders[0] ?? '', link, names, notes });
  await keepAnswer(ledger, id, file);
  if (tags.length) await new Files(ledger).addTags(new Map([[id, tags]]));
  const row = listed((await new Files(ledger).get(id)) as FileRow);
  return { row, downloads: (await new Downloads(ledger).forFiles([id])).get(id) ?? [] };
}
