/** Brings the index of transcripts up to date: new, changed and deleted files. */
import { Downloads } from '../../ledger/downloads.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { StenoError } from '../../lib/errors.ts';
import type { Report } from '../../lib/progress.ts';
import { sha256 } from '../../lib/sha256.ts';
import { readableFormats } from '../../transcripts/model.ts';
import { readBytes, readTranscript } from '../../transcripts/read.ts';
import {
  mostPrecise,
  type TranscriptFilter,
  type TranscriptOnDisk,
  transcriptsOnDisk,
} from '../transcripts/on-disk.ts';
import { sentencesOf } from './sentences.ts';
import type { IndexedFile, TextIndex } from './text-index.ts';

/** The best of what the ledger noted and the disk has, the oldest first; and how many there are in all formats. */
export async function listBest(ledger: Ledger, filter: TranscriptFilter = {}) {
  const best: TranscriptOnDisk[] = [];
  let all = 0;
  for await (const page of transcriptsOnDisk(ledger, filter)) {
    best.push(...mostPrecise(page));
    all += page.length;
  }
  best.sort((one, other) => (one.downloadedAt < other.downloadedAt ? -1 : 1));
  return { best, all };
}

/** So much is indexed in one transaction: another search waits for its end, and a crash loses as much at most. */
const BATCH_BYTES = 32_000_000;
/** In transcripts. */
const TURN = 16;
/** Recorded as the time of a file that the system could not read, so that it is tried again. */
const UNREAD = -1;

export async function updateIndex(
  index: TextIndex,
  ledger: Ledger,
  ledgerMark: string | undefined,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  const { best: files, all } = await listBest(ledger);
  let at = 0;
  let count = 0;
  while (at < files.length) {
    await index.writing(async () => {
      // Read anew: another process may have indexed some of it meanwhile.
      const known = new Map(index.files.map((file) => [file.path, file]));
      for (let bytes = 0; at < files.length && bytes < BATCH_BYTES && !signal.aborted; at += 1) {
        const file = files[at] as TranscriptOnDisk;
        const before = known.get(file.path);
        if (before && isSame(before, file)) continue;
        bytes += file.size;
        count += 1;
        add(index, file, before);
        report({ done: at + 1, of: files.length, unit: 'transcript' });
        // Lets an interruption and the progress line have their turn.
        if (count % TURN === 0) await new Promise(setImmediate);
      }
    }, signal);
    if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
  }
  // One that is not on the disk may come back, which nothing in the index would tell.
  const isOnDisk = all === (await new Downloads(ledger).count(readableFormats));
  await index.writing(async () => {
    const paths = new Set(files.map(({ path }) => path));
    for (const file of index.files) if (!paths.has(file.path)) index.drop(file);
    index.setListed((isOnDisk && ledgerMark) || '');
  }, signal);
  if (count) index.compact();
}

const isSame = (one: TranscriptOnDisk, other: TranscriptOnDisk): boolean =>
  (['size', 'mtimeMs', 'title', 'downloadedAt'] as const).every((name) => one[name] === other[name]);

function add(index: TextIndex, listed: TranscriptOnDisk, before: IndexedFile | undefined): void {
  try {
    const bytes = readBytes(listed.path);
    const file = { ...listed, sha256: sha256(bytes) };
    if (before?.sha256 === file.sha256) index.keep(before, file);
    else index.put(file, sentencesOf(readTranscript(bytes, listed.format, listed.path)), before);
  } catch (error) {
    if (!(error instanceof StenoError)) throw error;
    // What the content is to blame for is not tried again until it changes; the disk may work the next time.
    const isOfSystem = error.cause instanceof Error && 'syscall' in error.cause;
    const mtimeMs = isOfSystem ? UNREAD : listed.mtimeMs;
    index.put({ ...listed, mtimeMs, sha256: '', trouble: error.message }, [], before);
  }
}
