/** What a search has found: as grep shows it, and as rows. */
import type { FileHits, Hit } from '../flows/search/search.ts';
import type { Sentence } from '../flows/search/sentences.ts';
import type { Line, Piece } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import type { TranscriptFile } from '../transcripts/model.ts';
import * as record from './record.ts';
import * as is from './schema.ts';

/** A sentence that matches; the texts around it where they were asked for. */
interface FoundSentence extends Sentence, Pick<TranscriptFile, 'audiofile' | 'title' | 'path'> {
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

const secondsField = (name: 'start' | 'end', help: string, importance: number) =>
  record.numberField<FoundSentence>(name, help, (found) => found[name] && found[name] / 1000, { importance });

const contextField = (name: 'before' | 'after'): record.Field<FoundSentence> => ({
  ...{ name, help: `sentences ${name} it, with --context`, schema: is.arrayOf(is.text) },
  json: (found) => (found[name] ? [...found[name]] : null),
  ...{ optional: true, cell: false },
});

const hitRecord = new record.RecordType<FoundSentence>([
  record.textField('audiofile', 'audiofile id', 'audiofile', { kind: 'id' }),
  record.textField('title', 'title of the audio', 'title', { importance: 30 }),
  record.wordField('path', 'path of the transcript', 'path', { kind: 'link', importance: 20 }),
  record.countField('line', 'line, or paragraph of a docx, on which the sentence begins', 'line', {
    importance: 10,
  }),
  secondsField('start', 'when it begins, in seconds with up to three decimals; null without times', 60),
  secondsField('end', 'when it ends, in seconds; null if the format does not say', 5),
  record.textField('speaker', 'who says it, if the transcript says so', 'speaker', { importance: 50 }),
  record.wordField('text', 'sentence that matches', 'text', { importance: 90 }),
  contextField('before'),
  contextField('after'),
]);

export const hitsOutput = (): record.CommandOutput => {
  const forgotten = is.described('with --forget, the deleted index', record.writtenFile);
  return record.printed(is.anyOf(is.arrayOf(hitRecord.schema), forgotten), hitRecord.columnHelp);
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
    const around = { before: texts(at - context, at), after: texts(at + 1, at + 1 + context) };
    return context ? { ...sentence, ...around } : sentence;
  });
  return Object.defineProperty(hitRecord.view(all), 'quiet', { value: [path] });
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
      { text: file.title ?? '', tone: 'strong' },
      { text: file.path, tone: 'info', keepsEnd: true },
    ],
    narrowing: [
      [2, 20],
      [1, 20],
      [2, 0],
    ],
  };
  const lines = places.flatMap((at, order) => {
    const isApart = context > 0 && order > 0 && places[order - 1] !== at - 1;
    const line = sentenceLine(sentences[at] as Sentence, marks.get(at));
    return isApart ? [lineOf({ text: '  --', tone: 'faint' }), line] : [line];
  });
  return [heading, ...lines, lineOf()];
}

const lineOf = (...pieces: readonly Piece[]): Line => ({ gap: 0, pieces, narrowing: [] });

function sentenceLine({ start, speaker, text }: Sentence, marks: Hit['marks'] | undefined): Line {
  const tone = marks ? undefined : 'faint';
  const pieces: Piece[] = [
    { text: start === undefined ? '  ' : `  ${clock(start)}  `, tone: 'faint' },
    { text: speaker === undefined ? '' : `${speaker}: `, tone },
  ];
  let from = 0;
  for (const [begin, end] of marks ?? []) {
    pieces.push({ text: text.slice(from, begin), tone }, { text: text.slice(begin, end), tone: 'bad' });
    from = end;
  }
  return lineOf(...pieces, { text: text.slice(from), tone });
}

/** `0:12:03` */
function clock(ms: number): string {
  const whole = Math.floor(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}
