/** Finds words in the transcripts on this disk, by an index that is brought up to date first. */
import { readFileSync, statSync } from 'node:fs';
import type { Ledger } from '../../ledger/ledger.ts';
import { StenoError } from '../../lib/errors.ts';
import type { Report } from '../../lib/progress.ts';
import { isDamaged } from '../../lib/sqlite.ts';
import { readTranscript, readTranscriptFile } from '../../transcripts/read.ts';
import { Tally } from '../bulk.ts';
import { mostPrecise, type TranscriptFilter, transcriptsOnDisk } from '../transcripts/on-disk.ts';
import { ftsQuery, type Mark, marksOf, parseQuery, type Query } from './query.ts';
import { passagesOf, type Sentence, sentencesOf } from './sentences.ts';
import {
  deleteIndex,
  type FoundFile,
  hasFullTextSearch,
  type IndexedFile,
  openIndex,
  type TextIndex,
} from './text-index.ts';
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
  readonly file: FoundFile;
  readonly sentences: readonly Sentence[];
  readonly hits: readonly Hit[];
}

/** A file that may match, with the passages that may; all of them without any. */
interface Candidate {
  readonly file: FoundFile;
  readonly passages?: ReadonlySet<number>;
}

/** What is searched. */
export interface Searched {
  /** Why every file is read, in place of the index. */
  readonly withoutIndex?: string;
  readonly candidates: (query: Query) => Iterable<Candidate>;
  /** Which of the files can't be read. */
  readonly tally: Tally;
  readonly close: () => void;
}

/** Brings the index up to date. Where there can be none, the files themselves are searched. */
export async function prepareSearch(
  place: SearchPlace,
  filter: TranscriptFilter,
  report: Report,
): Promise<Searched> {
  try {
    return await withIndex(place, filter, report).catch((error: unknown) => {
      if (!isDamaged(error)) throw error;
      deleteIndex(place.path);
      return withIndex(place, filter, report);
    });
  } catch (error) {
    if (!(error instanceof StenoError) || place.signal.aborted) throw error;
    const files = await listed(await place.openLedger(), filter);
    const why = (await hasFullTextSearch()) ? error.message : 'this SQLite has no full-text search (FTS5)';
    return {
      withoutIndex: why,
      candidates: () => files.reverse().map((file) => ({ file })),
      tally: new Tally(files.length),
      close: () => {},
    };
  }
}

async function withIndex(place: SearchPlace, filter: TranscriptFilter, report: Report): Promise<Searched> {
  const index = await openIndex(place.path, place.profile, place.signal);
  try {
    const mark = ledgerMark(place.ledgerPath);
    const known = index.files;
    const isCurrent = mark !== undefined && mark === index.ledgerMark && known.every(isUnchanged);
    if (!isCurrent)
      await new IndexUpdate(index, known, report, place.signal).run(await place.openLedger(), mark);
    const files = await chosen(isCurrent ? known : index.files, filter, place);
    const byId = new Map(files.map((file) => [file.id, file]));
    const tally = new Tally(files.length);
    files.forEach(({ path, trouble }, at) => {
      if (trouble) tally.add({ what: path, error: new StenoError('failed', trouble) }, at);
    });
    return {
      candidates: (query) => indexed(index, query, byId, place.path),
      tally,
      close: () => index.close(),
    };
  } catch (error) {
    index.close();
    throw error;
  }
}

function* indexed(
  index: TextIndex,
  query: Query,
  files: ReadonlyMap<number, IndexedFile>,
  path: string,
): Generator<Candidate> {
  try {
    for (const { file: id, passages } of index.candidates(ftsQuery(query))) {
      const file = files.get(id);
      if (file) yield { file, passages };
    }
  } catch (error) {
    if (!isDamaged(error)) throw error;
    deleteIndex(path);
    throw new StenoError('failed', `the index ${path} was damaged, and has been deleted`, {
      hint: 'run the same search again: it makes a new one',
      cause: error,
    });
  }
}

/** By which a ledger in a file is known to be unchanged; undefined for a shared one. */
function ledgerMark(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const marks = [path, `${path}-wal`].map((each) => {
    const { size = 0, mtimeMs = 0 } = statSync(each, { throwIfNoEntry: false }) ?? {};
    return size ? `${size} ${mtimeMs}` : '';
  });
  return marks.join(', ');
}

function isUnchanged({ path, size, mtimeMs }: FoundFile): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.size === size && Math.round(found.mtimeMs) === mtimeMs;
  } catch {
    return false;
  }
}

/** The ledger knows orders, tags and feeds. */
async function chosen(
  files: readonly IndexedFile[],
  filter: TranscriptFilter,
  place: SearchPlace,
): Promise<readonly IndexedFile[]> {
  const { files: ids, since, order, tag, feed } = filter;
  const from = since === undefined ? '' : new Date(since).toISOString();
  const wanted = files.filter(
    ({ audiofile, downloadedAt }) => (!ids?.length || ids.includes(audiofile)) && downloadedAt >= from,
  );
  if ([order, tag, feed].every((each) => each === undefined)) return wanted;
  const ofLedger = await listed(await place.openLedger(), { order, tag, feed });
  const paths = new Set(ofLedger.map(({ path }) => path));
  return wanted.filter(({ path }) => paths.has(path));
}

/** All that the ledger noted and the disk has, the oldest first. */
async function listed(ledger: Ledger, filter: TranscriptFilter): Promise<FoundFile[]> {
  const all: FoundFile[] = [];
  for await (const page of transcriptsOnDisk(ledger, filter))
    for (const { path, format, size, mtimeMs, audiofile = '', title = '', downloadedAt } of page)
      all.push({ path, format, size, mtimeMs: Math.round(mtimeMs), audiofile, title, downloadedAt });
  return mostPrecise(all).sort((one, other) => (one.downloadedAt < other.downloadedAt ? -1 : 1));
}

/** So much is indexed in one transaction: another search waits for its end, and Ctrl-C loses as much at most. */
const BATCH_BYTES = 32_000_000;

class IndexUpdate {
  readonly #index: TextIndex;
  readonly #known: ReadonlyMap<string, IndexedFile>;
  readonly #gone = new Map<string, IndexedFile>();
  readonly #report: Report;
  readonly #signal: AbortSignal;

  constructor(index: TextIndex, known: readonly IndexedFile[], report: Report, signal: AbortSignal) {
    this.#index = index;
    this.#known = new Map(known.map((file) => [file.path, file]));
    this.#report = report;
    this.#signal = signal;
  }

  async run(ledger: Ledger, mark: string | undefined): Promise<void> {
    const files = await listed(ledger, {});
    const paths = new Set(files.map(({ path }) => path));
    for (const file of this.#known.values()) if (!paths.has(file.path)) this.#gone.set(file.sha256, file);
    const isKnown = ({ path, size, mtimeMs }: FoundFile): boolean => {
      const known = this.#known.get(path);
      return known?.size === size && known.mtimeMs === mtimeMs;
    };
    const pending = files.filter((file) => !isKnown(file));
    for (let done = 0; done < pending.length; ) {
      await this.#index.writing(async () => {
        done = await this.#addSome(pending, done);
      }, this.#signal);
      if (this.#signal.aborted) throw new StenoError('interrupted', 'interrupted');
    }
    await this.#index.writing(async () => {
      for (const file of files.filter(isKnown)) this.#renew(file);
      for (const file of this.#known.values()) if (!paths.has(file.path)) this.#index.drop(file);
      if (mark !== undefined) this.#index.ledgerMark = mark;
    }, this.#signal);
    if (pending.length) this.#index.compact();
  }

  /** Adds files from a place on; gives the place of the first that is left. */
  async #addSome(files: readonly FoundFile[], from: number): Promise<number> {
    let at = from;
    for (let bytes = 0; at < files.length && bytes < BATCH_BYTES && !this.#signal.aborted; at += 1) {
      const file = files[at] as FoundFile;
      bytes += file.size;
      if (!this.#index.has(file)) await this.#add(file);
      this.#report({ done: at + 1, of: files.length, unit: 'transcript' });
    }
    return at;
  }

  async #add(listedFile: FoundFile): Promise<void> {
    try {
      const content = await readTranscriptFile(listedFile);
      const { sha256, size, mtimeMs } = content;
      const file = { ...listedFile, size, mtimeMs: Math.round(mtimeMs) };
      const known = this.#known.get(file.path);
      const same = known?.sha256 === sha256 ? known : this.#gone.get(sha256);
      if (!same || !this.#index.move(same, file)) this.#index.put(file, content);
    } catch (error) {
      if (!(error instanceof StenoError)) throw error;
      this.#index.putTrouble(listedFile, error.message);
    }
  }

  /** What the ledger says of a file may have changed. */
  #renew(file: FoundFile): void {
    const known = this.#known.get(file.path);
    const { title, audiofile, downloadedAt } = file;
    const isSame =
      known?.title === title && known.audiofile === audiofile && known.downloadedAt === downloadedAt;
    if (known && !isSame) this.#index.move(known, file);
  }
}

/** The hits of each file that has some, of the newest first. `isCut` tells at the end whether there are more. */
export async function* findHits(
  searched: Searched,
  { query, speaker, limit }: SearchRequest,
  isCut: { value: boolean },
  signal: AbortSignal,
): AsyncGenerator<FileHits> {
  const spokenBy = speaker === undefined ? undefined : parseQuery([speaker]);
  let left = limit;
  let at = 0;
  for (const { file, passages } of searched.candidates(query)) {
    if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
    const sentences = read(file, searched.tally, at++);
    const hits = hitsIn(sentences, passages, (sentence) =>
      !spokenBy || marksOf(spokenBy, wordsOf(sentence.speaker ?? ''))
        ? marksOf(query, wordsOf(sentence.text))
        : undefined,
    );
    isCut.value = hits.length > left;
    if (hits.length && left > 0) yield { file, sentences, hits: hits.slice(0, left) };
    if (isCut.value) return;
    left -= hits.length;
  }
}

function read(file: FoundFile, tally: Tally, at: number): Sentence[] {
  const { path, format } = file;
  try {
    return sentencesOf(readTranscript(readFileSync(path), format, path));
  } catch (error) {
    const failed = error instanceof StenoError ? error : new StenoError('failed', `${path} can't be read`);
    tally.add({ what: path, error: failed }, at);
    return [];
  }
}

function hitsIn(
  sentences: readonly Sentence[],
  passages: ReadonlySet<number> | undefined,
  match: (sentence: Sentence) => readonly Mark[] | undefined,
): Hit[] {
  const ranges = passagesOf(sentences).filter((_, number) => passages?.has(number) ?? true);
  return ranges.flatMap(([from, to]) =>
    sentences.slice(from, to).flatMap((sentence, offset) => {
      const marks = match(sentence);
      return marks ? [{ at: from + offset, marks }] : [];
    }),
  );
}
