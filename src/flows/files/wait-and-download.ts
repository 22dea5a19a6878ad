/** Waits for files and downloads each transcript as it is delivered. */
import type { AudioFile } from '../../api/files.ts';
import { type Destination, TranscriptDownloads } from '../transcripts/downloads.ts';
import { byteCounter } from '../transcripts/fetch.ts';
import { asksService, DEFAULT_TEMPLATE } from '../transcripts/name.ts';
import type { Saved } from '../transcripts/save.ts';
import { type WaitOptions, type WaitOutcome, waitForFiles } from './wait.ts';

export interface DownloadTarget {
  /** The folder for transcripts; without one, none is downloaded. */
  readonly download: string | undefined;
  readonly formats: readonly string[];
  /** What the transcripts are called; by their ids if it is not given. */
  readonly template: string | undefined;
}

export interface WaitResult {
  readonly outcomes: readonly WaitOutcome[];
  /** Absent where no download was asked for. */
  readonly saved: readonly Saved[] | undefined;
}

export async function waitAndDownload(
  ids: readonly string[],
  waiting: WaitOptions,
  { download, formats, template = DEFAULT_TEMPLATE }: DownloadTarget,
): Promise<WaitResult> {
  if (download === undefined) return { outcomes: await waitForFiles(ids, waiting), saved: undefined };
  const { transport, ledger, notes } = waiting;
  const downloads = new TranscriptDownloads({
    ...{ transport, ledger, notes, folder: download, template },
    ifExists: 'skip',
    replacesDrafts: true,
    keepsNames: true,
    onBytes: waiting.report && byteCounter(waiting.report, false),
  });
  const destinations = new Map<string, Destination[]>();
  const name = async (id: string, file?: AudioFile): Promise<Destination[]> => {
    const known = destinations.get(id);
    if (known) return known;
    const ofFile: Destination[] = [];
    for (const ext of formats) ofFile.push({ id, ext, path: await downloads.claim({ id, ext, file }) });
    destinations.set(id, ofFile);
    return ofFile;
  };
  // Named now, in the order asked: so names don't depend on which file is delivered first. A title may come as late as
  // the transcript.
  if (!asksService(template)) for (const id of ids) await name(id);
  const saved = new Map<string, Saved>();
  const onDelivered = async (id: string, file: AudioFile): Promise<void> => {
    for (const to of await name(id, file)) {
      // After a failure this is called again: what came before it is not downloaded twice.
      if (!saved.has(to.path)) saved.set(to.path, await downloads.save({ ...to, delivered: true }));
    }
  };
  const outcomes = await waitForFiles(ids, { ...waiting, onDelivered });
  const inOrder = [...new Set(ids)].flatMap((id) => destinations.get(id) ?? []);
  return { outcomes, saved: inOrder.flatMap(({ path }) => saved.get(path) ?? []) };
}
