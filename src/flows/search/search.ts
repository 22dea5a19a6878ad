/** Finds words in the transcripts on this disk, by an index that is brought up to date first. */
import { readFileSync, statSync } from 'node:fs';
import { Downloads } from '../../ledger/downloads.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { StenoError } from '../../lib/errors.ts';
import type { Report } from '../../lib/progress.ts';
import { isDamaged } from '../../lib/sqlite.ts';
import { readableFormats } from '../../transcripts/model.ts';
import { readTranscript, readTranscriptFile } from '../../transcripts/read.ts';
import { outcomeOf, Tally } from '../bulk.ts';
import {
  mostPrecise,
  type TranscriptFilter,
  type TranscriptOnDisk,
  transcriptsOnDisk,
} from '../transcripts/on-disk.ts';
import { ftsQuery, type Mark, marksOf, parseQuery, type Query } from './query.ts';
import { passagesOf, type Range, type Sentence, sentencesOf } from './sentences.ts';
import { deleteIndex, hasFullTextSearch, type IndexedFile, openIndex, type TextIndex } from './text-index.ts';
import { wordsOf } from './words.ts';

export interface SearchPlace {
  /** Of the index. */
  readonly path: string;
  /** Of the ledger, where that is a file. */
  readonly ledgerPath: string | undefined;
  readonly profile: string;
  /** Speed: a ledger that has not changed is not opened. */
  readonly openLedger: () => Promise<Ledger>;
  readonly signal: AbortSignal;
  /** Whether the index may be written. */
  readonly mayIndex: boolean;
}

export interface SearchRequest extends TranscriptFilter {
  readonly query: Query;
  /** A part of the speaker's name. */
  readonly speaker?: string | undefined;
  readonly limit: number;
}

/** A sentence that matches, by its place among those of its file. */
export interface Hit {
  readonly at: number;
  readonly marks: readonly Mark[];
}

export interface FileHits {
  readonly file: TranscriptOnDisk;
  readonly sentences: readonly Sentence[];
  readonly hits: readonly Hit[];
}

/** A file that may match, with the passages that may; all of them without any. */
interface Candidate {
  readonly file: TranscriptOnDisk;
  readonly passages?: readonly number[];
}

export interface Searched {
  readonly candidates: readonly Candidate[];
  /** How many transcripts there are, and which of them can't be read. */
  readonly tally: Tally;
  /** Why every file is read, in place of the index. */
  readonly withoutIndex?: string;
}

/** Brings the index up to date and asks it. Where there can be none, every file may match. */
export async function prepareSearch(
  place: SearchPlace,
  request: SearchRequest,
  report: Report,
): Promise<Searched> {
  const ask = (): Promise<Searched> => askIndex(place, request, report);
  try {
    return await ask().catch((error: unknown) => {
      if (!isDamaged(error)) throw error;
      deleteIndex(place.path);
      return ask();
    });
  } catch (error) {
    if (!(error instanceof StenoError) || place.signal.aborted) throw error;
    const { best: files } = await listed(await place.openLedger(), request);
    const withoutIndex = (await hasFullTextSearch()) ? error.message : 'this SQLite has no FTS5';
    return {
      candidates: files.reverse().map((file) => ({ file })),
      tally: new Tally(files.length),
      withoutIndex,
    };
  }
}

async function askIndex(place: SearchPlace, request: SearchRequest, report: Report): Promise<Searched> {
  if (!place.mayIndex) throw new StenoError('failed', 'only reading is allowed (STENO_ALLOW)');
  const index = await openIndex(place.path, place.profile, place.signal);
  try {
    const mark = ledgerMark(place.ledgerPath);
    const known = index.files;
    const isCurrent = mark !== undefined && mark === index.ledgerMark && known.every(isUnchanged);
    if (!isCurrent) {
      const ledger = await place.openLedger();
      const files = await listed(ledger);
      // One that is not on the disk may come back, which nothing in the index would tell.
      const isComplete = files.all === (await new Downloads(ledger).count(readableFormats));
      await update(index, files.best, isComplete ? mark : undefined, report, place.signal);
    }
    const files = await chosen(isCurrent ? known : index.files, request, place);
    const tally = new Tally(files.size);
    for (const { id, path, trouble } of files.values())
      if (trouble) tally.add({ what: path, error: new StenoError('failed', trouble) }, id);
    const found = index.find(ftsQuery(request.query));
    const candidates = found.flatMap(({ id, passages }) => {
      const file = files.get(id);
      return file ? [{ file, passages }] : [];
    });
    return { candidates, tally };
  } finally {
    index.close();
  }
}

/** By which a ledger in a file is known to be unchanged; undefined for a shared one. */
const ledgerMark = (path: string | undefined): string | undefined =>
  path &&
  [path, `${path}-wal`]
    .map((each) => statSync(each, { throwIfNoEntry: false }))
    .map((found) => (found?.size ? `${found.size} ${found.mtimeMs}` : ''))
    .join(', ');

function isUnchanged({ path, size, mtimeMs }: TranscriptOnDisk): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.size === size && found.mtimeMs === mtimeMs;
  } catch {
    return false;
  }
}

/** By their ids. The ledger knows orders, tags and feeds. */
async function chosen(
  files: readonly IndexedFile[],
  { files: ids, since, order, tag, feed }: SearchRequest,
  place: SearchPlace,
): Promise<Map<number, IndexedFile>> {
  const asksLedger = [order, tag, feed].some((each) => each !== undefined);
  const { best } = asksLedger
    ? await listed(await place.openLedger(), { order, tag, feed })
    : { best: files };
  const paths = new Set(best.map(({ path }) => path));
  const isChosen = ({ path, audiofile = '', downloadedAt }: IndexedFile): boolean =>
    paths.has(path) &&
    (!ids?.length || ids.includes(audiofile)) &&
    (since === undefined || Date.parse(downloadedAt) >= since);
  return new Map(files.filter(isChosen).map((file) => [file.id, file]));
}

/** The best of what the ledger noted and the disk has, the oldest first; and how many there are in all formats. */
async function listed(ledger: Ledger, filter: TranscriptFilter = {}) {
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

async function update(
  index: TextIndex,
  files: readonly TranscriptOnDisk[],
  mark: string | undefined,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  let at = 0;
  let count = 0;
  while (at < files.length) {
    await index.writing(async () => {
      // Read anew: another process may have indexed some of it meanwhile.
      const known = new Map(index.files.map((file) => [file.path, file]));
      const gone = goneBySum(known, files);
      for (let bytes = 0; at < files.length && bytes < BATCH_BYTES && !signal.aborted; at += 1) {
        const file = files[at] as TranscriptOnDisk;
        const before = known.get(file.path);
        if (before && isSame(before, file)) continue;
        bytes += file.size;
        count += 1;
        await add(index, file, before, gone);
        report({ done: at + 1, of: files.length, unit: 'transcript' });
      }
    }, signal);
    if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
  }
  await index.writing(async () => {
    const paths = new Set(files.map(({ path }) => path));
    for (const file of index.files) if (!paths.has(file.path)) index.drop(file);
    index.ledgerMark = mark ?? '';
  }, signal);
  if (count) index.compact();
}

const isSame = (one: TranscriptOnDisk, other: TranscriptOnDisk): boolean =>
  (['size', 'mtimeMs', 'title', 'downloadedAt'] as const).every((name) => one[name] === other[name]);

/** Those that are not where they were: one of the same content may have taken their place. */
function goneBySum(
  known: ReadonlyMap<string, IndexedFile>,
  files: readonly TranscriptOnDisk[],
): Map<string, IndexedFile> {
  const left = new Map(known);
  for (const { path } of files) left.delete(path);
  return new Map([...left.values()].map((file) => [file.sha256, file]));
}

async function add(
  index: TextIndex,
  listed: TranscriptOnDisk,
  before: IndexedFile | undefined,
  gone: ReadonlyMap<string, IndexedFile>,
): Promise<void> {
  const outcome = await outcomeOf(listed.path, () => readTranscriptFile(listed));
  // Not tried again until it changes.
  if (outcome.error) return index.put({ ...listed, sha256: '', trouble: outcome.error.message }, [], before);
  const { text, sha256, size, mtimeMs } = outcome.value;
  const file = { ...listed, sha256, size, mtimeMs };
  const same = before?.sha256 === sha256 ? before : gone.get(sha256);
  if (same && index.move(same, file)) return;
  const sentences = sentencesOf(text);
  const textOf = ([from, to]: Range): string =>
    sentences
      .slice(from, to)
      .map((each) => each.text)
      .join('\n');
  index.put(file, passagesOf(sentences).map(textOf), before);
}

/** The hits of each file that has some, of the newest first. `isCut` tells at the end whether there are more. */
export async function* findHits(
  { candidates, tally }: Searched,
  { query, speaker, limit }: SearchRequest,
  isCut: { value: boolean },
  signal: AbortSignal,
): AsyncGenerator<FileHits> {
  const spokenBy = speaker === undefined ? undefined : parseQuery([speaker]);
  const match = ({ text, speaker = '' }: Sentence): readonly Mark[] | undefined =>
    !spokenBy || marksOf(spokenBy, wordsOf(speaker)) ? marksOf(query, wordsOf(text)) : undefined;
  let left = limit;
  for (const [at, { file, passages }] of candidates.entries()) {
    if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
    const sentences = read(file, tally, -1 - at);
    const ranges = passagesOf(sentences).filter((_, number) => passages?.includes(number) ?? true);
    const hits = ranges.flatMap(([from, to]) =>
      sentences.slice(from, to).flatMap((sentence, offset): Hit[] => {
        const marks = match(sentence);
        return marks ? [{ at: from + offset, marks }] : [];
      }),
    );
    isCut.value = hits.length > left;
    if (hits.length && left > 0) yield { file, sentences, hits: hits.slice(0, left) };
    if (isCut.value) return;
    left -= hits.length;
  }
}

function read({ path, format }: TranscriptOnDisk, tally: Tally, at: number): Sentence[] {
  try {
    return sentencesOf(readTranscript(readFileSync(path), format, path));
  } catch (error) {
    const failed = error instanceof StenoError ? error : new StenoError('failed', `${path} can't be read`);
    tally.add({ what: path, error: failed }, at);
    return [];
  }
}
