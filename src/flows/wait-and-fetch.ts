/** Waits for files and fetches each transcript as it is delivered. */
import { join } from 'node:path';
import type { AudioFile } from '../api/files.ts';
import type { Outcome } from './bulk.ts';
import { type Saved, saveTranscript } from './download.ts';
import { fileName } from './file-names.ts';
import { removeLeftovers } from './parts.ts';
import { type Waiting, waitForFiles } from './wait.ts';

export interface Fetching {
  /** Where transcripts go; absent, none is fetched. */
  readonly download: string | undefined;
  readonly formats: readonly string[];
}

export interface Waited {
  readonly outcomes: readonly Outcome<AudioFile>[];
  /** Absent where no download was asked for. */
  readonly saved: readonly Saved[] | undefined;
}

export async function waitAndFetch(
  ids: readonly string[],
  waiting: Waiting,
  fetching: Fetching,
): Promise<Waited> {
  const { download, formats } = fetching;
  if (download === undefined) return { outcomes: await waitForFiles(ids, waiting), saved: undefined };
  await removeLeftovers(download);
  const saved: Saved[] = [];
  const onDelivered = async (id: string): Promise<void> => {
    for (const ext of formats) {
      const path = join(download, fileName('{id}.{ext}', { id, ext, title: '', order: '' }));
      const request = { id, ext, test: false, deprecatedPath: false };
      const one = await saveTranscript(waiting.transport, request, path, 'skip');
      waiting.ledger?.downloads.add(id, ext, one.path, one.bytes);
      saved.push(one);
    }
  };
  return { outcomes: await waitForFiles(ids, { ...waiting, onDelivered }), saved };
}
