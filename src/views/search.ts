/** What a search has found: as grep shows it, and as rows. */
import type { FileHits, Hit } from '../flows/search/search.ts';
import type { Sentence } from '../flows/search/sentences.ts';
import { type Line, lineOf, type Piece } from '../lib/text.ts';
import { audioClock } from '../lib/time.ts';
import type { View } from '../lib/view.ts';
import type { TranscriptFile } from '../transcripts/model.ts';
import * as a from './fields.ts';
import { type CommandOutput, type Field, printed, ranked, writtenFile } from './record.ts';
import * as is from './schema.ts';

/** A sentence that matches; the texts around it where they were asked for. */
interface FoundSentence extends Sentence, Pick<TranscriptFile, 'audiofile' | 'title' | 'path'> {
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

const around = (name: 'before' | 'after'): Field<FoundSentence> => ({
  ...{ name, help: `sentences ${name} it, with --context`, schema: is.arrayOf(is.text) },
  json: (found) => (found[name] ? [...found[name]] : null),
  ...{ optional: true, cell: false },
});

const hitRecord = ranked<FoundSentence>('text start speaker title path line end', [
  a.text('audiofile', 'audiofile id', 'audiofile', { kind: 'id' }),
  a.text('title', 'title of the audio', 'title'),
  a.word('path', 'path of the transcript', 'path', { kind: 'link' }),
  a.count('line', 'line, or paragraph of a docx, on which the sentence begins', 'line'),
  a.seconds('start', 'when it begins, in seconds with up to three decimals; null without times', 'start'),
  a.seconds('end', 'when it ends, in seconds; null if the format does not say', 'end'),
  a.text('speaker', 'who says it, if the transcript says so', 'speaker'),
  a.word('text', 'sentence that matches', 'text'),
  ...[around('before'), around('after')],
]);

export const hitsOutput = (): CommandOutput => {
  const forgotten = is.described('with --forget, the deleted index', writtenFile);
  return printed(is.anyOf(is.arrayOf(hitRecord.schema), forgotten), hitRecord.columnHelp);
};

/** --quiet has the path of each file with a hit, as grep -l does. */
export function hitsView(found: FileHits | undefined, context: number): View {
  if (!found) return hitRecord.view([]);
  const { file, sentences, hits } = found;
  const texts = (from: number, to: number): string[] =>
    sentences.slice(Math.max(0, from), to).map(({ text }) => text);
  const { audiofile, title, path } = file;
  const all = hits.map(({ at }): FoundSentence => {
    const sentence = { ...(sentences[at] as Sentence), audiofile, title, path };
    const near = { before: texts(at - context, at), after: texts(at + 1, at + 1 + context) };
    return context ? { ...sentence, ...near } : sentence;
  });
  return hitRecord.view(all, { quiet: [path] });
}

/** For a person: the file, and under it each sentence with its time and its speaker, the hits marked. */
export function hitLines({ file, sentences, hits }: FileHits, context: number): Line[] {
  const marks = new Map(hits.map((hit) => [hit.at, hit.marks]));
  const near = hits.flatMap(({ at }) =>
    Array.from({ length: 2 * context + 1 }, (_, by) => at - context + by),
  );
  const places = [...new Set(near)].filter((at) => sentences[at]).sort((one, other) => one - other);
  const heading: Line = {
    pieces: [
      { text: file.audiofile ?? '', tone: 'strong' },
      { name: 'title', text: file.title ?? '', tone: 'strong' },
      { name: 'path', text: file.path, tone: 'info', keepsEnd: true },
    ],
    narrowing: 'path 20, title 20, path',
  };
  const lines = places.flatMap((at, order) => {
    const isApart = context > 0 && order > 0 && places[order - 1] !== at - 1;
    const line = sentenceLine(sentences[at] as Sentence, marks.get(at));
    return isApart ? [tightLine({ text: '  --', tone: 'faint' }), line] : [line];
  });
  return [heading, ...lines, tightLine()];
}

const tightLine = (...pieces: readonly Piece[]): Line => ({ ...lineOf(...pieces), gap: 0 });

function sentenceLine({ start, speaker, text }: Sentence, marks: Hit['marks'] | undefined): Line {
  const tone = marks ? undefined : 'faint';
  const pieces: Piece[] = [
    { text: start === undefined ? '  ' : `  ${audioClock(start, '').replace(/^0/, '')}  `, tone: 'faint' },
    { text: speaker === undefined ? '' : `${speaker}: `, tone },
  ];
  let from = 0;
  for (const [begin, end] of marks ?? []) {
    pieces.push({ text: text.slice(from, begin), tone }, { text: text.slice(begin, end), tone: 'bad' });
    from = end;
  }
  return tightLine(...pieces, { text: text.slice(from), tone });
}
