/** Waits for files and downloads each transcript as it is delivered. */
import { type Destination, TranscriptDownloads } from '../transcripts/downloads.ts';
import { removeLeftovers } from '../transcripts/partial-files.ts';
import type { Saved } from '../transcripts/save.ts';
import { type WaitOptions, type WaitOutcome, waitForFiles } from './wait.ts';

export interface DownloadTarget {
  /** The folder for transcripts; without one, none is downloaded. */
  readonly download: string | undefined;
  readonly formats: readonly string[];
}

export interface WaitResult {
  readonly outcomes: readonly WaitOutcome[];
  /** Absent where no download was asked for. */
  readonly saved: readonly Saved[] | undefined;
}

export async function waitAndDownload(
  ids: readonly string[],
  waiting: WaitOptions,
  { download, formats }: DownloadTarget,
): Promise<WaitResult> {
  if (download === undefined) return { outcomes: await waitForFiles(ids, waiting), saved: undefined };
  await removeLeftovers(download);
  const { transport, ledger, notes } = waiting;
  const downloads = new TranscriptDownloads({
    ...{ transport, ledger, notes, folder: download },
    ifExists: 'skip',
    replacesDrafts: true,
  });
  // Named now, in the order asked: the names must not depend on which file is delivered first.
  const destinations = new Map<string, Destination[]>();
  for (const id of new Set(ids)) {
    const ofFile: Destination[] = [];
    for (const ext of formats) ofFile.push(await downloads.claim({ id, ext, title: '', order: '' }));
    destinations.set(id, ofFile);
  }
  const saved = new Map<string, Saved>();
  const onDelivered = async (id: string): Promise<void> => {
    for (const to of destinations.get(id) ?? []) {
      // After a failure this is called again: what came before it is not downloaded twice.
      if (!saved.has(to.path)) saved.set(to.path, await downloads.save({ ...to, delivered: true }));
    }
  };
  const outcomes = await waitForFiles(ids, { ...waiting, onDelivered });
  return { outcomes, saved: [...destinations.values()].flat().flatMap(({ path }) => saved.get(path) ?? []) };
}
