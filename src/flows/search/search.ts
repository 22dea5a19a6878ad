/** Finds words in the transcripts on this disk, by an index that is brought up to date first. */
import type { Ledger } from '../../ledger/ledger.ts';
import { StenoError } from '../../lib/errors.ts';
import { findStats } from '../../lib/fs.ts';
import type { Report } from '../../lib/progress.ts';
import { isDamaged } from '../../lib/sqlite.ts';
import { readBytes, readTranscript } from '../../transcripts/read.ts';
import { Tally } from '../bulk.ts';
import type { TranscriptFilter, TranscriptOnDisk } from '../transcripts/on-disk.ts';
import { ftsQuery, type Mark, marksOf, type Query } from './query.ts';
import { type Sentence, sentencesOf } from './sentences.ts';
import {
  deleteIndex,
  type Found,
  hasFullTextSearch,
  type Listing,
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
  readonly file: TranscriptOnDisk;
  readonly sentences: readonly Sentence[];
  readonly hits: readonly Hit[];
}

/** A file that may match. */
export interface Candidate {
  readonly file: TranscriptOnDisk;
  /** Which of its sentences may; undefined: any. */
  readonly places: readonly number[] | undefined;
  readonly read: () => readonly Sentence[];
}

export interface Searched {
  readonly candidates: readonly Candidate[];
  /** How many transcripts there are, and which of them can't be read. */
  readonly tally: Tally;
  /** Why every file is read, in place of the index. */
  readonly withoutIndex?: string;
  readonly close: () => void;
}

/** The index, brought up to date, with what was chosen of it. */
export interface OpenIndex {
  readonly index: TextIndex;
  readonly isChosen: (file: TranscriptOnDisk) => boolean;
  readonly tally: Tally;
}

/** Brings the index up to date and asks it. Where there can be none, every file may match. */
export async function prepareSearch(
  place: SearchPlace,
  request: SearchRequest,
  report: Report,
): Promise<Searched> {
  return withIndex(
    place,
    request,
    report,
    ({ index, isChosen, tally }) => {
      const found = index.find(ftsQuery(request.query)).filter(({ file }) => isChosen(file));
      return { candidates: found.map((each) => candidateOf(index, each)), tally, close: () => index.close() };
    },
    (files, withoutIndex) => {
      const tally = new Tally(files.length);
      const candidates = files.map((file, at): Candidate => {
        return { file, places: undefined, read: () => readSentences(file, tally, -1 - at) };
      });
      return { candidates, tally, withoutIndex, close: () => {} };
    },
  );
}

const candidateOf = (index: TextIndex, { file, ids }: Found): Candidate => ({
  file,
  places: ids.map((id) => id - file.first),
  read: () => index.sentences(file.first, file.last),
});

/** Does it with the index, or else with the files themselves. */
export async function withIndex<Result>(
  place: SearchPlace,
  filter: TranscriptFilter,
  report: Report,
  work: (open: OpenIndex) => Result | Promise<Result>,
  withFiles: (files: readonly TranscriptOnDisk[], why: string) => Result | Promise<Result>,
): Promise<Result> {
  const ask = async (): Promise<Result> => {
    const open = await openCurrent(place, filter, report);
    try {
      return await work(open);
    } catch (error) {
      open.index.close();
      throw error;
    }
  };
  try {
    return await ask().catch((error: unknown) => {
      if (!isDamaged(error)) throw error;
      deleteIndex(place.path);
      return ask();
    });
  } catch (error) {
    if (!(error instanceof StenoError) || place.signal.aborted) throw error;
    const files = (await listed(place, filter)).reverse();
    return withFiles(files, (await hasFullTextSearch()) ? error.message : 'this SQLite has no FTS5');
  }
}

async function openCurrent(place: SearchPlace, filter: TranscriptFilter, report: Report): Promise<OpenIndex> {
  const index = await openIndex(place.path, place.profile, place.signal);
  try {
    const ledgerMark = markOf(place.ledgerPath);
    if (!isCurrent(index.listing, ledgerMark)) {
      const { updateIndex } = await import('./update.ts');
      await updateIndex(index, await place.openLedger(), ledgerMark, report, place.signal);
    }
    const { total, isChosen } = await choice(index, filter, place);
    const tally = new Tally(total);
    for (const { id, path, trouble = '' } of index.troubled.filter(isChosen))
      tally.add({ what: path, error: new StenoError('failed', trouble) }, id);
    return { index, isChosen, tally };
  } catch (error) {
    index.close();
    throw error;
  }
}

/** By which a ledger in a file is known to be unchanged; undefined for a shared one. */
const markOf = (path: string | undefined): string | undefined =>
  path &&
  [path, `${path}-wal`]
    .map((each) => findStats(each))
    .map((found) => (found?.size ? `${found.size} ${found.mtimeMs}` : ''))
    .join(', ');

const isCurrent = (listing: Listing | undefined, ledgerMark: string | undefined): boolean =>
  listing !== undefined && listing.ledger === ledgerMark && listing.files.every(isUnchanged);

function isUnchanged([path, size, mtimeMs]: Listing['files'][number]): boolean {
  const found = findStats(path);
  return found?.size === size && found.mtimeMs === mtimeMs;
}

interface Choice {
  readonly total: number;
  readonly isChosen: (file: TranscriptOnDisk) => boolean;
}

async function choice(index: TextIndex, filter: TranscriptFilter, place: SearchPlace): Promise<Choice> {
  const { files, order, tag, feed, since } = filter;
  if ([files, order, tag, feed, since].every((each) => each === undefined))
    return { total: index.total, isChosen: () => true };
  const paths = new Set((await listed(place, filter)).map(({ path }) => path));
  return { total: paths.size, isChosen: ({ path }) => paths.has(path) };
}

/** What was downloaded since a time is asked of the best transcript, not of one that a better one stands for. */
async function listed(
  place: SearchPlace,
  { since = 0, ...filter }: TranscriptFilter,
): Promise<TranscriptOnDisk[]> {
  const { listBest } = await import('./update.ts');
  const { best } = await listBest(await place.openLedger(), filter);
  return best.filter(({ downloadedAt }) => Date.parse(downloadedAt) >= since);
}

/** The hits of each file that has some, of the newest first. `isCut` tells at the end whether there are more. */
export async function* findHits(
  { candidates, close }: Searched,
  { query, speaker, limit }: SearchRequest,
  isCut: { value: boolean },
  signal: AbortSignal,
): AsyncGenerator<FileHits> {
  const isSpokenBy = speakerFilter(speaker);
  let left = limit;
  try {
    for (const { file, places, read } of candidates) {
      if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
      const sentences = read();
      const hits = (places ?? [...sentences.keys()]).flatMap((at): Hit[] => {
        const marks = isSpokenBy(sentences[at]?.speaker) ? match(query, sentences, at) : [];
        return marks.length ? [{ at, marks }] : [];
      });
      isCut.value = hits.length > left;
      if (hits.length && left > 0) yield { file, sentences, hits: hits.slice(0, left) };
      if (isCut.value) return;
      left -= hits.length;
    }
  } finally {
    close();
  }
}

/** A part of the name is enough. */
export function speakerFilter(wanted: string | undefined): (name: string | undefined) => boolean {
  const plain = (name: string): string =>
    wordsOf(name)
      .map(({ text }) => text)
      .join(' ');
  return (name = '') => wanted === undefined || plain(name).includes(plain(wanted));
}

/** Where a sentence matches. A phrase that begins in it may go on in the next ones. */
function match(query: Query, sentences: readonly Sentence[], at: number): Mark[] {
  const text = sentences[at]?.text ?? '';
  const longest = Math.max(...[...query.wanted, ...query.unwanted].map(({ words }) => words.length));
  let whole = text;
  // Each sentence has a word or is a mark; a phrase goes over few.
  for (let next = at + 1; longest > 1 && next < at + longest && next < sentences.length; next += 1) {
    if (whole.length - text.length > MAX_LETTERS * longest) break;
    whole += ` ${sentences[next]?.text}`;
  }
  const marks = marksOf(query, wordsOf(whole), text.length) ?? [];
  return marks.map(([start, end]) => [start, Math.min(end, text.length)]);
}

/** A word is seldom longer: so much text after a sentence has all that a phrase needs. */
const MAX_LETTERS = 40;

/** Of a file that can't be read, none. */
export function readSentences({ path, format }: TranscriptOnDisk, tally: Tally, at: number): Sentence[] {
  try {
    return sentencesOf(readTranscript(readBytes(path), format, path));
  } catch (error) {
    if (!(error instanceof StenoError)) throw error;
    tally.add({ what: path, error }, at);
    return [];
  }
}
