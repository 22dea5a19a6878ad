/** What the thread of `DiskThread` runs: writes files, and tells of all that a turn has ended in one message. */
import { parentPort } from 'node:worker_threads';
import { DiskError, errorMessage, StenoError } from '../../lib/errors.ts';
import type { FileFailure, FileJob, FileResult } from './disk-thread.ts';
import { writeAndRename } from './whole-file.ts';

let results: FileResult[] = [];

parentPort?.on('message', (jobs: readonly FileJob[]) => {
  for (const job of jobs) void write(job).then(tell);
});

async function write({ number, path, bytes, naming }: FileJob): Promise<FileResult> {
  const block = bytes.buffer;
  const chunk = Buffer.from(block, 0, bytes.length);
  try {
    const written = await writeAndRename(path, async (onChunk) => onChunk(chunk), naming);
    return { number, block, written };
  } catch (error) {
    return { number, block, failure: failureOf(error) };
  }
}

const failureOf = (error: unknown): FileFailure => ({
  message: errorMessage(error),
  hint: error instanceof StenoError ? error.hint : undefined,
  isOfDisk: error instanceof DiskError,
});

function tell(result: FileResult): void {
  if (results.length === 0)
    setImmediate(() => {
      parentPort?.postMessage(
        results,
        results.map(({ block }) => block),
      );
      results = [];
    });
  results.push(result);
}
