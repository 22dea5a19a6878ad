/** Many transcripts in several formats, each to a name of its own. */
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import { getTranscript, type TranscriptRequest } from '../../api/transcripts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { usage } from '../../lib/errors.ts';
import { doEach, type Outcome } from '../bulk.ts';
import { pourTranscript } from './check.ts';
import { DEFAULT_TEMPLATE, TranscriptDownloads } from './downloads.ts';
import { removeLeftovers } from './partial-files.ts';
import { brokenOff, type IfExists, type Saved } from './save.ts';

export interface Wanted {
  readonly ids: readonly string[];
  readonly formats: readonly string[];
  readonly test: boolean;
  readonly deprecatedPath: boolean;
}

export interface Target {
  /** Below which folder, by which template; or one file. */
  readonly folder: string;
  readonly template: string;
  readonly file?: string | undefined;
  readonly ifExists: IfExists;
}

/** Where `-o` leads: a folder if it is one, ends like one, or must hold several files. */
export async function targetOf(
  output: string | undefined,
  template: string | undefined,
  several: boolean,
  ifExists: IfExists,
): Promise<Target> {
  const named = { template: template ?? DEFAULT_TEMPLATE, ifExists };
  if (output === undefined) return { ...named, folder: '.' };
  const there = await stat(output).catch(() => undefined);
  const folder = there?.isDirectory() || /[/\\]$/.test(output) || several || template !== undefined;
  if (!folder) return { ...named, folder: '.', file: output };
  if (there && !there.isDirectory())
    throw usage(`'${output}' is not a folder`, 'several transcripts need a folder to go to');
  return { ...named, folder: output };
}

/** Downloads them all, `jobs` at a time; `onDone` is told of each as it ends, with nothing if it failed. */
export async function saveTranscripts(
  transport: Transport,
  ledger: Ledger | undefined,
  wanted: Wanted,
  target: Target,
  jobs: number,
  onDone: (saved: Saved | undefined) => void = () => {},
): Promise<Outcome<Saved>[]> {
  const { ids, formats, test, deprecatedPath } = wanted;
  const { file, folder, template, ifExists } = target;
  const downloads = new TranscriptDownloads({
    transport,
    ledger,
    folder,
    template,
    ifExists,
    test,
    deprecatedPath,
  });
  const needsDetails = file === undefined && /\{(title|order)\}/.test(template);
  const details = needsDetails ? await doEach(ids, jobs, String, (id) => getFile(transport, id)) : [];
  const tasks = ids.flatMap((id, at) =>
    formats.map((ext) => {
      const { value, error } = details[at] ?? {};
      const parts = { id, ext, title: value?.title ?? '', order: value?.orders[0] ?? '' };
      const to = file === undefined ? downloads.claim(parts) : { id, ext, path: file };
      return { ...to, error };
    }),
  );
  for (const each of new Set(tasks.map(({ path }) => dirname(path)))) await removeLeftovers(each);
  const label = (task: { id: string; ext: string }): string =>
    formats.length > 1 ? `${task.id}.${task.ext}` : task.id;
  return doEach(tasks, jobs, label, async ({ error, ...to }) => {
    let saved: Saved | undefined;
    try {
      if (error) throw error;
      saved = await downloads.save(to);
      return saved;
    } finally {
      onDone(saved);
    }
  });
}

/** Passes one transcript on as it comes. */
export function streamTranscript(
  transport: Transport,
  request: TranscriptRequest,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  return getTranscript(transport, request, async (transcript) => {
    let begun = false;
    try {
      await pourTranscript(transcript, request.ext, (chunk) => {
        begun = true;
        return write(chunk);
      });
    } catch (error) {
      throw begun ? brokenOff(error) : error;
    }
  });
}
