/** Finds words in the transcripts on this disk, by an index that is brought up to date first. */
import type { Ledger } from '../../ledger/ledger.ts';
import { StenoError } from '../../lib/errors.ts';
import { findStats } from '../../lib/fs.ts';
import type { Report } from '../../lib/progress.ts';
import { isDamaged } from '../../lib/sqlite.ts';
import { readBytes, readTranscript } from '../../transcripts/read.ts';
import { Tally } from '../bulk.ts';
import type { TranscriptFilter, TranscriptOnDisk } from '../transcripts/on-disk.ts';
import { ftsQuery, type Mark, marksOf, mayMatch, type Query } from './query.ts';
import { type Sentence, sentencesOf } from './sentences.ts';
import { deleteIndex, hasFullTextSearch, type Listing, openIndex, type TextIndex } from './text-index.ts';
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

export interface Searched {
  /** The files that may match. */
  readonly candidates: readonly TranscriptOnDisk[];
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
    const candidates = (await listed(place, request)).reverse();
    const withoutIndex = (await hasFullTextSearch()) ? error.message : 'this SQLite has no FTS5';
    return { candidates, tally: new Tally(candidates.length), withoutIndex };
  }
}

async function askIndex(place: SearchPlace, request: SearchRequest, report: Report): Promise<Searched> {
  if (!place.mayIndex) throw new StenoError('failed', 'only reading is allowed (STENO_ALLOW)');
  const index = await openIndex(place.path, place.profile, place.signal);
  try {
    const ledgerMark = markOf(place.ledgerPath);
    if (!isCurrent(index.listing, ledgerMark)) {
      const { updateIndex } = await import('./update.ts');
      await updateIndex(index, await place.openLedger(), ledgerMark, report, place.signal);
    }
    const { total, isChosen } = await choice(index, request, place);
    const tally = new Tally(total);
    for (const { id, path, trouble = '' } of index.troubled.filter(isChosen))
      tally.add({ what: path, error: new StenoError('failed', trouble) }, id);
    return { candidates: index.find(ftsQuery(request.query)).filter(isChosen), tally };
  } finally {
    index.close();
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

async function choice(index: TextIndex, request: SearchRequest, place: SearchPlace): Promise<Choice> {
  const { files, order, tag, feed, since } = request;
  if ([files, order, tag, feed, since].every((each) => each === undefined))
    return { total: index.total, isChosen: () => true };
  const paths = new Set((await listed(place, request)).map(({ path }) => path));
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
  { candidates, tally }: Searched,
  { query, speaker, limit }: SearchRequest,
  isCut: { value: boolean },
  signal: AbortSignal,
): AsyncGenerator<FileHits> {
  const isSpokenBy = (name: string): boolean => speaker === undefined || plain(name).includes(plain(speaker));
  let left = limit;
  for (const [at, file] of candidates.entries()) {
    if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
    const sentences = read(file, tally, -1 - at);
    const hits = sentences.flatMap((sentence, at): Hit[] => {
      const marks = isSpokenBy(sentence.speaker ?? '') ? match(query, sentence, sentences[at + 1]) : [];
      return marks.length ? [{ at, marks }] : [];
    });
    isCut.value = hits.length > left;
    if (hits.length && left > 0) yield { file, sentences, hits: hits.slice(0, left) };
    if (isCut.value) return;
    left -= hits.length;
  }
}

const plain = (name: string): string =>
  wordsOf(name)
    .map(({ text }) => text)
    .join(' ');

/** Where a sentence matches. Words may stand beyond a cut, but the first is in this sentence. */
function match(query: Query, { text, isCut }: Sentence, next: Sentence | undefined): Mark[] {
  const whole = isCut && next ? `${text} ${next.text}` : text;
  const marks = mayMatch(query, whole) ? (marksOf(query, wordsOf(whole)) ?? []) : [];
  return marks
    .filter(([start]) => start < text.length)
    .map(([start, end]) => [start, Math.min(end, text.length)]);
}

function read({ path, format }: TranscriptOnDisk, tally: Tally, at: number): Sentence[] {
  try {
    return sentencesOf(readTranscript(readBytes(path), format, path));
  } catch (error) {
    if (!(error instanceof StenoError)) throw error;
    tally.add({ what: path, error }, at);
    return [];
  }
}
