/** Whether quotations were said: rows, documents, and what a CI server is told. */

import type { Passage } from '../flows/quote/find.ts';
import type { Verdict } from '../flows/quote/judge.ts';
import { oneLine } from '../lib/text.ts';
import { audioClock } from '../lib/time.ts';
import type { View } from '../lib/view.ts';
import * as a from './fields.ts';
import { RecordType, ranked } from './record.ts';
import type { ReportedFile } from './reports.ts';
import * as is from './schema.ts';

const statuses: readonly Verdict['status'][] = ['exact', 'altered', 'spliced', 'other_speaker', 'missing'];

interface LinkedPassage extends Passage {
  readonly link: string | undefined;
}

/** A verdict, or one of its passages in a row of its own. */
interface Row extends Omit<Verdict, 'passages' | 'nearest'> {
  readonly passages: readonly LinkedPassage[];
  readonly nearest?: LinkedPassage | undefined;
  readonly at?: LinkedPassage | undefined;
}

const difference = is.object({ said: is.text, quoted: is.text });
const changeOf = ({ said, quoted }: Verdict['differences'][number]): string => {
  if (said && quoted) return `${said} → ${quoted}`;
  return said ? `-${said}` : `+${quoted}`;
};
const changesOf = ({ differences }: Pick<Verdict, 'differences'>): string =>
  differences.map(changeOf).join('; ');
const differences = a.plain<Pick<Verdict, 'differences'>>(
  'differences',
  'what was said, and what is quoted',
  is.arrayOf(difference),
  (of) => of.differences.map(({ said, quoted }) => ({ said, quoted })),
);

const passageRecord = new RecordType<LinkedPassage>([
  a.text('audiofile', 'audiofile id', ({ file }) => file.audiofile),
  a.text('title', 'title of the audio', ({ file }) => file.title),
  a.word('path', 'path of the transcript', ({ file }) => file.path),
  a.count('line', 'line, or paragraph of a docx, on which its sentence begins', 'line'),
  a.seconds('start', 'when its sentence begins, in seconds', 'start'),
  a.seconds('end', 'when its last sentence ends, in seconds', 'end'),
  a.text('speaker', 'who says it', ({ speakers }) => speakers.join(', ')),
  a.word('text', 'what was said', 'text'),
  differences,
  a.text('link', 'from --link', 'link'),
]);

const quoteRecord = ranked<Row>(
  'quotation differences line speaker start audiofile document column said named title link path left_out',
  [
    a.word('status', statuses.join(', '), 'status', { kind: 'id', schema: is.oneOf(...statuses) }),
    a.word('quotation', 'text of the quotation', 'text'),
    a.column('said', 'what was said, or comes nearest', ({ at }) => at?.text ?? ''),
    { ...differences, cell: changesOf },
    a.column('speaker', 'who said it', ({ at }) => at?.speakers.join(', ') ?? ''),
    a.column(
      'start',
      'when, in seconds',
      ({ at }) => (at?.start === undefined ? '' : String(at.start / 1000)),
      { kind: 'amount' },
    ),
    a.column('audiofile', 'audiofile id', ({ at }) => at?.file.audiofile ?? ''),
    a.column('title', 'title of the audio', ({ at }) => at?.file.title ?? ''),
    a.column('path', 'path of the transcript', ({ at }) => at?.file.path ?? '', { kind: 'link' }),
    a.column('link', 'from --link', ({ at }) => at?.link ?? '', { kind: 'link' }),
    a.text('document', 'with --verify, path of the document', 'document'),
    a.number('line', 'line of the document, or paragraph of a docx', 'line'),
    a.number('column', 'column of the document', 'column'),
    a.list('named', 'speakers named around the quotation who did not say it', 'named'),
    a.list('left_out', 'fillers, marks and repeated words that the quotation leaves out', 'leftOut'),
    a.plain('in_order', 'spliced: in the order in which it was said', is.nullable(is.boolean), 'isInOrder'),
    a.plain('one_speaker', 'spliced: all parts by one speaker', is.nullable(is.boolean), 'isOfOneSpeaker'),
    a.records('passages', 'where it, or each part of it, was said', passageRecord, 'passages'),
    a.plain(
      'nearest',
      'missing: the passage that comes nearest, if any does',
      is.nullable(passageRecord.schema),
      ({ nearest }) => (nearest ? passageRecord.json(nearest) : null),
    ),
  ],
);

export const quotesOutput = () => quoteRecord.printedList;

/** `link` has `{seconds}` or `{id}` in it. */
export function quotesView(verdicts: readonly Verdict[], link: string | undefined): View {
  const linked = (each: Passage): LinkedPassage => ({ ...each, link: linkOf(each, link) });
  const all = verdicts.map((verdict): Row => {
    const nearest = verdict.nearest && linked(verdict.nearest);
    return { ...verdict, passages: verdict.passages.map(linked), nearest };
  });
  return quoteRecord.view(all.flatMap(rowsOf), {
    json: () => all.map((each) => quoteRecord.json(each)),
    quiet: verdicts.map(({ status }) => status),
  });
}

/** Each passage may be altered in another way. */
const rowsOf = (all: Row): Row[] =>
  all.passages.length
    ? all.passages.map((at) => ({ ...all, at, differences: at.differences, leftOut: at.leftOut }))
    : [{ ...all, at: all.nearest }];

/** Without a time it leads to the beginning. */
const linkOf = ({ file, start = 0 }: Passage, link: string | undefined): string | undefined =>
  link
    ?.replaceAll('{seconds}', String(Math.floor(start / 1000)))
    .replaceAll('{id}', encodeURIComponent(file.audiofile ?? ''));

const MAX_SHOWN = 200;
const shown = (text: string): string => `“${oneLine(text, MAX_SHOWN)}”`;

/** Who said it, and where. */
function placeOf({ file, speakers, start }: Passage): string {
  const time = start === undefined ? '' : `, ${audioClock(start, '')}`;
  return `${speakers.join(' and ') || 'unknown speaker'} in ${file.title ?? file.audiofile ?? file.path}${time}`;
}

/** What is wrong with a quotation, in a sentence. */
export function faultOf(verdict: Verdict): string {
  const { text, status, passages, nearest, named, isInOrder } = verdict;
  const [first] = passages;
  const where = first ? ` (${placeOf(first)})` : '';
  if (status === 'missing')
    return `${shown(text)} was not said${nearest ? `; nearest: ${shown(nearest.text)} (${placeOf(nearest)})` : ''}`;
  if (status === 'altered')
    return `${shown(text)} was said in other words: ${oneLine(changesOf(verdict))}${where}`;
  if (status === 'other_speaker')
    return `${shown(text)} was said by another speaker${where}${named.length ? `, not by ${named.join(' or ')}` : ''}`;
  return `${shown(text)} joins ${isInOrder ? 'words of several speakers' : 'parts that were not said in this order'}${where}`;
}

/** Of each document; those without a fault too. */
export const reportedQuotes = (documents: readonly string[], verdicts: readonly Verdict[]): ReportedFile[] =>
  documents.map((path) => ({
    path,
    issues: verdicts
      .filter(({ document, isTrue }) => document === path && !isTrue)
      .map((each) => {
        const { status: rule, line, column } = each;
        return { rule, severity: 'error', text: faultOf(each), line, column };
      }),
  }));
