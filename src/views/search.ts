/** What a search has found: as grep shows it, and as rows. */
import type { FileHits, Hit } from '../flows/search/search.ts';
import type { Sentence } from '../flows/search/sentences.ts';
import type { FoundFile } from '../flows/search/text-index.ts';
import { foldWords, type Line, type Piece } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import {
  type CommandOutput,
  countField,
  numberField,
  printed,
  RecordType,
  textField,
  wordField,
  writtenFile,
} from './record.ts';
import * as is from './schema.ts';

/** A sentence that was found. */
interface FoundSentence extends Pick<FoundFile, 'audiofile' | 'title' | 'path'>, Sentence {
  /** The sentences around it; undefined where none were asked for. */
  readonly before: readonly string[] | undefined;
  readonly after: readonly string[] | undefined;
}

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);

const contextField = (name: 'before' | 'after') => ({
  ...{
    name,
    help: `sentences ${name} it, with --context; else absent`,
    optional: true,
    cell: false as const,
  },
  schema: is.arrayOf(is.text),
  json: (found: FoundSentence) => (found[name] ? [...found[name]] : null),
});

const hitRecord = new RecordType<FoundSentence>([
  textField('audiofile', 'audiofile id', 'audiofile', { kind: 'id' }),
  textField('title', 'title of the audio', 'title', { importance: 30 }),
  wordField('path', 'path of the transcript', 'path', { kind: 'link', importance: 20 }),
  countField('line', 'line on which the sentence begins; in a docx, its paragraph', 'line', {
    importance: 10,
  }),
  numberField(
    'start',
    'when it begins, in seconds; null if the format has no times',
    (hit) => seconds(hit.start),
    {
      importance: 60,
    },
  ),
  numberField('end', 'when it ends, in seconds; null if the format does not say', (hit) => seconds(hit.end), {
    importance: 5,
  }),
  textField('speaker', 'who says it, if the transcript says so', 'speaker', { importance: 50 }),
  wordField('text', 'sentence that matches', 'text', { importance: 90 }),
  contextField('before'),
  contextField('after'),
]);

export const hitsOutput = (): CommandOutput =>
  printed(
    is.anyOf(is.arrayOf(hitRecord.schema), is.described('with --forget, the deleted index', writtenFile)),
    hitRecord.columnHelp,
  );

/** --quiet has the path of each file with a hit, as grep -l does. */
export function hitsView({ file, sentences, hits }: FileHits, context: number): View {
  const texts = (from: number, to: number): string[] =>
    sentences.slice(Math.max(0, from), to).map(({ text }) => text);
  const found = hits.map(({ at }): FoundSentence => {
    const { audiofile, title, path } = file;
    return {
      ...{ ...(sentences[at] as Sentence), audiofile, title, path },
      before: context ? texts(at - context, at) : undefined,
      after: context ? texts(at + 1, at + 1 + context) : undefined,
    };
  });
  return Object.defineProperty(hitRecord.view(found), 'quiet', { value: [file.path] });
}

export const noHits = (): View => hitRecord.view([]);

const INDENT = 2;
const MIN_ROOM = 20;

/** For a person: the file, and under it each sentence with its time and its speaker, the hits marked. */
export function hitLines({ file, sentences, hits }: FileHits, context: number, columns: number): Line[] {
  const shown = new Map<number, Hit['marks']>();
  for (const { at } of hits)
    for (let near = Math.max(0, at - context); near <= at + context && near < sentences.length; near += 1)
      shown.set(near, []);
  for (const { at, marks } of hits) shown.set(at, marks);
  const isHit = new Set(hits.map(({ at }) => at));
  const places = [...shown.keys()].sort((one, other) => one - other);
  return [
    heading(file),
    ...places.flatMap((at, order) => {
      const isApart = context > 0 && order > 0 && places[order - 1] !== at - 1;
      const lines = sentenceLines(sentences[at] as Sentence, shown.get(at) ?? [], columns, isHit.has(at));
      return isApart ? [{ indent: INDENT, ...lineOf({ text: '--', tone: 'faint' }) }, ...lines] : lines;
    }),
    lineOf(),
  ];
}

const lineOf = (...pieces: readonly Piece[]): Line => ({ gap: 0, pieces, narrowing: [] });

const heading = ({ audiofile, title, path }: FoundFile): Line => ({
  pieces: [
    { text: audiofile, tone: 'strong' },
    { text: title, tone: 'strong' },
    { text: path, tone: 'info', keepsEnd: true },
  ],
  narrowing: [
    [2, 20],
    [1, 20],
    [2, 0],
    [1, 0],
  ],
});

/** What does not fit goes on below it. */
function sentenceLines(sentence: Sentence, marks: Hit['marks'], columns: number, isHit: boolean): Line[] {
  const tone = isHit ? undefined : 'faint';
  const time = sentence.start === undefined ? '' : `${clock(sentence.start)}  `;
  const speaker = sentence.speaker === undefined ? '' : `${sentence.speaker}: `;
  const indent = INDENT + time.length;
  const text = speaker + sentence.text;
  const moved = marks.map(([start, end]): readonly [number, number] => [
    start + speaker.length,
    end + speaker.length,
  ]);
  let from = 0;
  return foldWords(text, Math.max(MIN_ROOM, columns - indent)).map((line, at) => {
    const pieces = marked(line, from, moved, tone);
    from += line.length + 1;
    return at === 0
      ? { indent: INDENT, ...lineOf({ text: time, tone: 'faint' }, ...pieces) }
      : { indent, ...lineOf(...pieces) };
  });
}

/** A line that begins at this place of its text, in pieces. */
function marked(line: string, from: number, marks: Hit['marks'], tone: Piece['tone']): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const [start, end] of marks) {
    const [first, last] = [Math.max(at, start - from), Math.min(line.length, end - from)];
    if (first >= last) continue;
    pieces.push({ text: line.slice(at, first), tone }, { text: line.slice(first, last), tone: 'bad' });
    at = last;
  }
  return [...pieces, { text: line.slice(at), tone }];
}

/** `0:12:03` */
function clock(ms: number): string {
  const whole = Math.floor(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}
