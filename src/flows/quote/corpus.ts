/** The transcripts to look in: by the index of `search`, or without one in memory. */

import type { OpenIndex } from '../search/search.ts';
import type { Sentence } from '../search/sentences.ts';
import { wordsOf } from '../search/words.ts';
import type { TranscriptOnDisk } from '../transcripts/on-disk.ts';

/** Its sentences have consecutive ids. */
export interface IndexedTranscript {
  readonly file: TranscriptOnDisk;
  readonly first: number;
  readonly last: number;
}

export interface Corpus {
  /** By their ids. */
  readonly files: readonly IndexedTranscript[];
  /** The sentences with these words one after the other: at most so many. */
  ids(words: readonly string[], limit: number): readonly number[];
  sentences(first: number, last: number): readonly Sentence[];
}

/** So few files are asked one by one, so that others with the same words do not hide them. */
const FEW_FILES = 20;

export function indexCorpus({ index, isChosen }: OpenIndex): Corpus {
  const files = index.files
    .filter((file) => file.first <= file.last && isChosen(file))
    .map((file) => ({ file, first: file.first, last: file.last }))
    .sort((one, other) => one.first - other.first);
  return {
    files,
    ids(words, limit) {
      const query = `"${words.join(' ')}"`;
      if (files.length > FEW_FILES) return index.ids(query, limit);
      return files.flatMap(({ first, last }) => index.ids(query, limit, first, last));
    },
    sentences: (first, last) => index.sentences(first, last),
  };
}

/** Of what the files themselves say. */
export function memoryCorpus(
  read: ReadonlyArray<{ readonly file: TranscriptOnDisk; readonly sentences: readonly Sentence[] }>,
): Corpus {
  const files: IndexedTranscript[] = [];
  const all: Sentence[] = [];
  const places = new Map<string, number[]>();
  for (const { file, sentences } of read) {
    if (sentences.length) files.push({ file, first: all.length, last: all.length + sentences.length - 1 });
    all.push(...sentences);
  }
  for (const [id, { text }] of all.entries())
    for (const word of new Set(wordsOf(text).map((each) => each.text))) {
      const ids = places.get(word);
      if (ids) ids.push(id);
      else places.set(word, [id]);
    }
  return {
    files,
    ids(words, limit) {
      const [first = [], ...rest] = words.map((word) => places.get(word) ?? []);
      const others = rest.map((ids) => new Set(ids));
      return first.filter((id) => others.every((ids) => ids.has(id))).slice(0, limit);
    },
    sentences: (first, last) => all.slice(first, last + 1),
  };
}
