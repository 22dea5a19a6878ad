/** Reads or checks transcripts in a thread of its own: a big one takes long, and the page must go on. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { checkFiles } from '../flows/check/check.ts';
import { type Kind, StenoError } from '../lib/errors.ts';
import { formatJson, type Json, toJson } from '../lib/json.ts';
import { noReport } from '../lib/progress.ts';
import type { TranscriptFile } from '../transcripts/model.ts';
import { readTranscriptFile } from '../transcripts/read.ts';
import { findingsJson } from '../views/check.ts';
import type { FileAnswer } from './source.ts';

/** As much as a page can show: a day of speech. */
const MAX_SEGMENTS = 20_000;
const MAX_TEXT_LENGTH = 5_000_000;

interface Task {
  readonly what: 'read' | 'check';
  readonly file: TranscriptFile;
}

interface Answer {
  readonly json?: string;
  readonly error?: { readonly kind: Kind; readonly message: string; readonly hint?: string | undefined };
}

/** `program`: this file, built. The JSON is passed on as it is: to parse it would take long too. */
export function inThread(program: string, task: Task, signal: AbortSignal): Promise<FileAnswer> {
  const worker = new Worker(program, { workerData: task });
  const end = (): void => void worker.terminate();
  signal.addEventListener('abort', end);
  return new Promise<FileAnswer>((resolve, reject) => {
    worker.once('message', ({ json, error }: Answer) => {
      if (error) reject(new StenoError(error.kind, error.message, { hint: error.hint }));
      else resolve({ type: 'application/json; charset=utf-8', content: json ?? 'null' });
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new StenoError('interrupted', 'the transcript was not read')));
  }).finally(() => signal.removeEventListener('abort', end));
}

async function read(file: TranscriptFile, signal: AbortSignal): Promise<Json> {
  const text = await readTranscriptFile(file, signal);
  let left = MAX_TEXT_LENGTH;
  const shown = text.segments.slice(0, MAX_SEGMENTS).filter((segment) => {
    left -= segment.text.length;
    return left >= 0;
  });
  return toJson({
    format: file.format,
    segments: shown.map(({ line, start, end, speaker = null, text: said }) => ({
      ...{ line, start: seconds(start), end: seconds(end), speaker, text: said },
    })),
    truncated: shown.length < text.segments.length,
  });
}

const seconds = (milliseconds: number | undefined): number | null =>
  milliseconds === undefined ? null : milliseconds / 1000;

async function work({ what, file }: Task): Promise<Json> {
  const { signal } = new AbortController();
  if (what === 'read') return read(file, signal);
  return findingsJson(await checkFiles([file], { rules: undefined, signal, report: noReport }));
}

async function answer(task: Task): Promise<Answer> {
  try {
    return { json: formatJson(await work(task), 0) };
  } catch (error) {
    if (!(error instanceof StenoError)) throw error;
    const { kind, message, hint } = error;
    return { error: { kind, message, hint } };
  }
}

if (!isMainThread) void answer(workerData as Task).then((said) => parentPort?.postMessage(said));
