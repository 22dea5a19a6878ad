/** Waits for files and fetches each transcript as it is delivered. */
import { join } from 'node:path';
import type { AudioFile } from '../../api/files.ts';
import type { Outcome } from '../bulk.ts';
import { fileName, Names } from '../transcripts/name.ts';
import { removeLeftovers } from '../transcripts/partial-files.ts';
import { type Saved, saveTranscript } from '../transcripts/save.ts';
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
  const names = new Names();
  const documents = ids.flatMap((id) =>
    formats.map((ext) => {
      const name = fileName('{id}.{ext}', { id, ext, title: '', order: '' });
      return { id, ext, path: join(download, names.claim(name, id)) };
    }),
  );
  const saved = new Map<string, Saved>();
  const onDelivered = async (id: string): Promise<void> => {
    // What was fetched before a failure is not fetched again.
    for (const { ext, path } of documents.filter((each) => each.id === id && !saved.has(each.path))) {
      const request = { id, ext, test: false, deprecatedPath: false };
      const one = await saveTranscript(waiting.transport, request, path, 'skip');
      saved.set(path, one);
      waiting.ledger?.downloads.add(id, ext, one.path, one.bytes);
    }
  };
  const outcomes = await waitForFiles(ids, { ...waiting, onDelivered });
  return { outcomes, saved: documents.flatMap(({ path }) => saved.get(path) ?? []) };
}
