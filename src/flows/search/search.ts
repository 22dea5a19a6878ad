/** Finds words in the transcripts on this disk, by an index that is brought up to date first. */
import type { Ledger } from '../../ledger/ledger.ts';
import { StenoError, usage } from '../../lib/errors.ts';
import { findStats } from '../../lib/fs.ts';
import type { Report } from '../../lib/progress.ts';
import { isDamaged } from '../../lib/sqlite.ts';
import { nowMs, parseSince } from '../../lib/time.ts';
import { Tally } from '../bulk.ts';
import type { TranscriptFilter, TranscriptOnDisk } from '../transcripts/on-disk.ts';
import { type Mark, marksOf, type Query, type Term } from './query.ts';
import type { Sentence } from './sentences.ts';
import { deleteIndex, type IndexedFile, openIndex, scratchIndex, type TextIndex } from './text-index.ts';
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

/** The filters of `search` and `quote`, as they are given. */
interface GivenFilters extends Pick<TranscriptFilter, 'order' | 'tag' | 'feed'> {
  readonly file: readonly string[];
  readonly speaker: string | undefined;
  readonly since: string | undefined;
}

export function filterOf({ file, order, tag, feed, speaker, since: given }: GivenFilters) {
  if (speaker !== undefined && wordsOf(speaker).length === 0)
    throw usage(`there is no name in --speaker '${speaker}'`, 'give a part of the name: --speaker Ada');
  const since = given === undefined ? undefined : Date.parse(parseSince(given, nowMs()));
  const files = file.length ? file : undefined;
  const filter: TranscriptFilter = { files, order, tag, feed, since };
  return { filter, isFiltered: isFiltered(filter), isSpokenBy: speakerFilter(speaker) };
}

const isFiltered = ({ files, order, tag, feed, since }: TranscriptFilter): boolean =>
  [files, order, tag, feed, since].some((each) => each !== undefined);

/** A part of the name is enough. */
export function speakerFilter(wanted: string | undefined): (name: string | undefined) => boolean {
  const plain = (name: string): string =>
    wordsOf(name)
      .map(({ text }) => text)
      .join(' ');
  return (name = '') => wanted === undefined || plain(name).includes(plain(wanted));
}

/** So few files are asked one by one, so that others with the same words do not hide them. */
const FEW_FILES = 20;

/** What was chosen of the index. */
export class ChosenTexts {
  /** Those with sentences, in the order of these. */
  readonly files: readonly IndexedFile[];
  /** How many transcripts there are, and which of them can't be read. */
  readonly tally: Tally;
  /** Why the index in the state folder was not used. */
  readonly withoutIndex: string | undefined;
  readonly #index: TextIndex;

  constructor(index: TextIndex, paths?: ReadonlySet<string>) {
    const chosen = index.files.filter(({ path }) => paths?.has(path) ?? true);
    this.#index = index;
    this.files = chosen.filter(({ first, last }) => first <= last);
    this.tally = new Tally(chosen.length);
    this.withoutIndex = index.trouble;
    for (const [at, { path, trouble }] of chosen.entries())
      if (trouble) this.tally.add({ what: path, error: new StenoError('failed', trouble) }, at);
  }

  /** The file that has a sentence. */
  fileAt(id: number): IndexedFile | undefined {
    let [low, high] = [0, this.files.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.files[middle] as IndexedFile).last < id) low = middle + 1;
      else high = middle;
    }
    const found = this.files[low];
    return found && found.first <= id ? found : undefined;
  }

  /** The sentences that may have these words, by their ids; some of other files too. */
  ids(terms: readonly Term[], limit?: number): readonly number[] {
    if (this.files.length > FEW_FILES) return this.#index.ids(terms, limit);
    return this.files.flatMap(({ first, last }) => this.#index.ids(terms, limit, first, last));
  }

  sentences(first: number, last: number): readonly Sentence[] {
    return this.#index.sentences(first, last);
  }

  close(): void {
    this.#index.close();
  }
}

/** Brings the index up to date and works with it; with one of its own where that fails. */
export async function withIndex<Result>(
  place: SearchPlace,
  filter: TranscriptFilter,
  report: Report,
  work: (texts: ChosenTexts) => Result | Promise<Result>,
): Promise<Result> {
  const workWith = async (index: TextIndex): Promise<Result> => {
    try {
      return await work(await chosenOf(index, place, filter, report));
    } catch (error) {
      index.close();
      throw error;
    }
  };
  const attempt = async () => workWith(await openIndex(place.path, place.profile, place.signal));
  try {
    return await attempt().catch((error: unknown) => {
      if (!isDamaged(error)) throw error;
      deleteIndex(place.path);
      return attempt();
    });
  } catch (error) {
    if (!(error instanceof StenoError) || place.signal.aborted) throw error;
    return workWith(await scratchIndex(place.profile, error.message));
  }
}

async function chosenOf(
  index: TextIndex,
  { ledgerPath, openLedger, signal }: SearchPlace,
  filter: TranscriptFilter,
  report: Report,
): Promise<ChosenTexts> {
  const ledgerMark = markOf(ledgerPath);
  if (!index.isCurrent(ledgerMark)) {
    const { updateIndex } = await import('./update.ts');
    await updateIndex(index, await openLedger(), ledgerMark, report, signal);
  }
  if (!isFiltered(filter)) return new ChosenTexts(index);
  const { files, order, tag, feed, since = 0 } = filter;
  const { listBest } = await import('./update.ts');
  // What was downloaded since a time is asked of the best transcript, not of one that a better one stands for.
  const { best } = await listBest(await openLedger(), { files, order, tag, feed });
  const chosen = best.filter(({ downloadedAt }) => Date.parse(downloadedAt) >= since);
  return new ChosenTexts(index, new Set(chosen.map(({ path }) => path)));
}

/** By which a ledger in a file is known to be unchanged; undefined for a shared one. */
const markOf = (path: string | undefined): string | undefined =>
  path &&
  [path, `${path}-wal`]
    .map((each) => findStats(each))
    .map((found) => (found?.size ? `${found.size} ${found.mtimeMs}` : ''))
    .join(', ');

export interface Searched {
  readonly texts: ChosenTexts;
  /** Files that may match, the newest first, and which of their sentences may. */
  readonly candidates: ReadonlyArray<readonly [file: IndexedFile, ids: readonly number[]]>;
}

export const prepareSearch = (
  place: SearchPlace,
  { query, speaker: _, limit: __, ...filter }: SearchRequest,
  report: Report,
): Promise<Searched> =>
  withIndex(place, filter, report, (texts) => {
    const found = new Map<IndexedFile, number[]>();
    for (const id of texts.ids(query.wanted)) {
      const file = texts.fileAt(id);
      const ids = file && found.get(file);
      if (ids) ids.push(id);
      else if (file) found.set(file, [id]);
    }
    const candidates = [...found].reverse().sort(([one], [other]) => {
      return one.downloadedAt > other.downloadedAt ? -1 : Number(one.downloadedAt < other.downloadedAt);
    });
    return { texts, candidates };
  });

/** The hits of each file that has some, of the newest first. `isCut` tells at the end whether there are more. */
export async function* findHits(
  { texts, candidates }: Searched,
  { query, speaker, limit }: SearchRequest,
  isCut: { value: boolean },
  signal: AbortSignal,
): AsyncGenerator<FileHits> {
  const isSpokenBy = speakerFilter(speaker);
  let left = limit;
  try {
    for (const [file, ids] of candidates) {
      if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
      const sentences = texts.sentences(file.first, file.last);
      const hits = ids.flatMap((id): Hit[] => {
        const at = id - file.first;
        const marks = isSpokenBy(sentences[at]?.speaker) ? match(query, sentences, at) : [];
        return marks.length ? [{ at, marks }] : [];
      });
      isCut.value = hits.length > left;
      if (hits.length && left > 0) yield { file, sentences, hits: hits.slice(0, left) };
      if (isCut.value) return;
      left -= hits.length;
    }
  } finally {
    texts.close();
  }
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
