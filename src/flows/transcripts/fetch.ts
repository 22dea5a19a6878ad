/** Many transcripts in several formats, each to a name of its own. */
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import { getTranscript, type TranscriptRequest } from '../../api/transcripts.ts';
import { usage } from '../../lib/errors.ts';
import { doEach, type Outcome } from '../bulk.ts';
import { pourTranscript } from './check.ts';
import { fileName, Names } from './name.ts';
import { removeLeftovers } from './partial-files.ts';
import { brokenOff, type IfThere, type Saved, saveTranscript } from './save.ts';

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
  readonly ifThere: IfThere;
}

/** Where `-o` leads: a folder if it is one, ends like one, or must hold several files. */
export async function targetOf(
  output: string | undefined,
  template: string | undefined,
  several: boolean,
  ifThere: IfThere,
): Promise<Target> {
  const named = { template: template ?? '{id}.{ext}', ifThere };
  if (output === undefined) return { ...named, folder: '.' };
  const there = await stat(output).catch(() => undefined);
  const folder = there?.isDirectory() || /[/\\]$/.test(output) || several || template !== undefined;
  if (!folder) return { ...named, folder: '.', file: output };
  if (there && !there.isDirectory())
    throw usage(`'${output}' is not a folder`, 'several transcripts need a folder to go to');
  return { ...named, folder: output };
}

/** Downloads them all, so many at a time; `onDone` hears of each as it ends, with nothing if it failed. */
export async function saveTranscripts(
  transport: Transport,
  wanted: Wanted,
  target: Target,
  jobs: number,
  onDone: (saved: Saved | undefined) => void = () => {},
): Promise<Outcome<Saved>[]> {
  const named = target.file === undefined && /\{(title|order)\}/.test(target.template);
  const details = named ? await doEach(wanted.ids, jobs, String, (id) => getFile(transport, id)) : [];
  const names = new Names();
  const tasks = wanted.ids.flatMap((id, at) =>
    wanted.formats.map((ext) => {
      const { value, error } = details[at] ?? {};
      const parts = { id, ext, title: value?.title ?? '', order: value?.orders[0] ?? '' };
      const path = target.file ?? join(target.folder, names.claim(fileName(target.template, parts), id));
      return { id, ext, path, error };
    }),
  );
  for (const folder of new Set(tasks.map(({ path }) => dirname(path)))) await removeLeftovers(folder);
  const label = (task: { id: string; ext: string }): string =>
    wanted.formats.length > 1 ? `${task.id}.${task.ext}` : task.id;
  const { test, deprecatedPath } = wanted;
  return doEach(tasks, jobs, label, async ({ id, ext, path, error }) => {
    let saved: Saved | undefined;
    try {
      if (error) throw error;
      saved = await saveTranscript(transport, { id, ext, test, deprecatedPath }, path, target.ifThere);
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
