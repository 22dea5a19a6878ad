/** Reads transcripts in a separate thread, so that a large one does not hold up the page. */
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { StenoError } from '../lib/errors.ts';
import { formatJson, toJson } from '../lib/json.ts';
import type { TranscriptFile } from '../transcripts/model.ts';
import { readTranscriptFile } from '../transcripts/read.ts';

/** As much as a page can show: a day of speech. */
const MAX_SEGMENTS = 20_000;
const MAX_TEXT_LENGTH = 5_000_000;

/** JSON, or what an error says: its class does not pass from thread to thread. */
type Answer = string | Pick<StenoError, 'kind' | 'message' | 'hint'>;

/** Gives JSON. `build` has this file as a program. */
export async function readInThread(
  build: string,
  file: TranscriptFile,
  signal: AbortSignal,
): Promise<string> {
  const worker = new Worker(join(build, 'reader.js'), { workerData: file });
  const end = (): void => void worker.terminate();
  signal.addEventListener('abort', end);
  const answer = await new Promise<Answer>((resolve, reject) => {
    worker.once('message', resolve).once('error', reject);
    worker.once('exit', () => reject(new StenoError('interrupted', 'the transcript was not read')));
  }).finally(() => signal.removeEventListener('abort', end));
  if (typeof answer === 'string') return answer;
  throw new StenoError(answer.kind, answer.message, { hint: answer.hint });
}

async function read(file: TranscriptFile): Promise<string> {
  const { segments } = await readTranscriptFile(file, new AbortController().signal);
  let left = MAX_TEXT_LENGTH;
  const shown = segments.slice(0, MAX_SEGMENTS).filter(({ text }) => {
    left -= text.length;
    return left >= 0;
  });
  const said = shown.map(({ line, start, end, speaker = null, text }) => ({
    ...{ line, start: seconds(start), end: seconds(end), speaker, text },
  }));
  const truncated = shown.length < segments.length;
  return formatJson(toJson({ format: file.format, segments: said, truncated }), 0);
}

const seconds = (milliseconds: number | undefined): number | null =>
  milliseconds === undefined ? null : milliseconds / 1000;

async function answer(file: TranscriptFile): Promise<Answer> {
  return read(file).catch((error: unknown) => {
    if (!(error instanceof StenoError)) throw error;
    const { kind, message, hint } = error;
    return { kind, message, hint };
  });
}

if (!isMainThread) void answer(workerData as TranscriptFile).then((said) => parentPort?.postMessage(said));
