/** Whether quotations were said: rows, documents, and what a CI server is told. */

import type { Passage } from '../flows/quote/find.ts';
import type { Verdict } from '../flows/quote/judge.ts';
import { type Json, toJson } from '../lib/json.ts';
import { oneLine } from '../lib/text.ts';
import { audioClock } from '../lib/time.ts';
import type { View } from '../lib/view.ts';
import * as record from './record.ts';
import type { ReportedFile } from './reports.ts';
import * as is from './schema.ts';

const statuses: readonly Verdict['status'][] = ['exact', 'altered', 'spliced', 'other_speaker', 'missing'];

interface LinkedPassage extends Passage {
  readonly link: string | undefined;
}

/** A row for each passage; the document is that of the verdict. */
interface Row extends Omit<Verdict, 'passages' | 'nearest'> {
  readonly passages: readonly LinkedPassage[];
  readonly nearest?: LinkedPassage | undefined;
  readonly at: LinkedPassage | undefined;
}

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);

const passage = record.documentOf<LinkedPassage>({
  audiofile: [is.maybeText, ({ file }) => file.audiofile ?? null, 'audiofile id'],
  title: [is.maybeText, ({ file }) => file.title ?? null, 'title of the audio'],
  path: [is.text, ({ file }) => file.path, 'path of the transcript'],
  line: [is.integer, 'line', 'line, or paragraph of a docx, on which its sentence begins'],
  start: [is.maybeNumber, ({ start }) => seconds(start) ?? null, 'when its sentence begins, in seconds'],
  end: [is.maybeNumber, ({ end }) => seconds(end) ?? null, 'when its last sentence ends, in seconds'],
  speaker: [is.maybeText, ({ speakers }) => speakers.join(', ') || null, 'who says it'],
  text: [is.text, 'text', 'what was said'],
  link: [is.maybeText, ({ link }) => link ?? null, 'from --link'],
});

const difference = is.object({ said: is.text, quoted: is.text });
const changeOf = ({ said, quoted }: Verdict['differences'][number]): string => {
  if (said && quoted) return `${said} → ${quoted}`;
  return said ? `-${said}` : `+${quoted}`;
};
const changesOf = ({ differences }: Pick<Verdict, 'differences'>): string =>
  differences.map(changeOf).join('; ');

/** In the documents alone. */
const member = (
  name: string,
  help: string,
  schema: is.Schema,
  json: (row: Row) => Json,
): record.Field<Row> => ({
  ...{ name, help, schema, json },
  cell: false,
});

/** In rows alone. */
const column = (
  name: string,
  help: string,
  cell: (row: Row) => string,
  more: Partial<record.Field<Row>> = {},
): record.Field<Row> => ({ name, help, schema: is.text, cell, ...more });

const quoteRecord = new record.RecordType<Row>([
  record.wordField('status', statuses.join(', '), 'status', { kind: 'id', schema: is.oneOf(...statuses) }),
  record.wordField('quotation', 'text of the quotation', 'text', { importance: 90 }),
  column('said', 'what was said, or for one that is missing what comes nearest', ({ at }) => at?.text ?? '', {
    importance: 30,
  }),
  column('differences', 'what was said → what is quoted', changesOf, { importance: 80 }),
  column('speaker', 'who said it', ({ at }) => at?.speakers.join(', ') ?? '', { importance: 60 }),
  column('start', 'when, in seconds', ({ at }) => String(seconds(at?.start) ?? ''), {
    ...{ importance: 50, kind: 'amount' },
  }),
  column('audiofile', 'audiofile id', ({ at }) => at?.file.audiofile ?? '', { importance: 45 }),
  column('title', 'title of the audio', ({ at }) => at?.file.title ?? '', { importance: 20 }),
  column('path', 'path of the transcript', ({ at }) => at?.file.path ?? '', { kind: 'link', importance: 10 }),
  column('link', 'from --link', ({ at }) => at?.link ?? '', { kind: 'link', importance: 15 }),
  record.textField('document', 'with --verify, path of the document', 'document', { importance: 40 }),
  record.numberField('line', 'line of the document, or paragraph of a docx', 'line', { importance: 70 }),
  record.numberField('column', 'column of the document', 'column', { importance: 35 }),
  record.listField('named', 'speakers named around the quotation who did not say it', 'named', {
    importance: 25,
  }),
  record.listField('left_out', 'fillers, marks and repeated words that the quotation leaves out', 'leftOut', {
    importance: 5,
  }),
  member('differences', 'what differs', is.arrayOf(difference), ({ differences }) =>
    toJson(differences.map(({ said, quoted }) => ({ said, quoted }))),
  ),
  member(
    'in_order',
    'spliced: the parts are in the order in which they were said; else null',
    is.nullable(is.boolean),
    (row) => row.isInOrder ?? null,
  ),
  member(
    'one_speaker',
    'spliced: one speaker said all parts; else null',
    is.nullable(is.boolean),
    (row) => row.isOfOneSpeaker ?? null,
  ),
  member(
    'passages',
    'where it was said; of a spliced one, where each part was',
    is.arrayOf(passage.schema),
    (row) => row.passages.map(passage.json),
  ),
  member(
    'nearest',
    'missing: the passage that comes nearest, if any does',
    is.nullable(passage.schema),
    (row) => (row.nearest ? passage.json(row.nearest) : null),
  ),
]);

export const quotesOutput = (): record.CommandOutput =>
  record.printed(is.arrayOf(quoteRecord.schema), quoteRecord.columnHelp);

/** `link` has `{seconds}` or `{id}` in it. */
export function quotesView(verdicts: readonly Verdict[], link: string | undefined): View {
  const linked = (each: Passage): LinkedPassage => ({ ...each, link: linkOf(each, link) });
  const groups = verdicts.map((verdict): Row[] => {
    const passages = verdict.passages.map(linked);
    const nearest = verdict.nearest && linked(verdict.nearest);
    const shown = passages.length ? passages : [nearest];
    return shown.map((at) => ({ ...verdict, passages, nearest, at }));
  });
  const view = quoteRecord.view(groups.flat());
  const documents = groups.flatMap(([first]) => (first ? [quoteRecord.json(first)] : []));
  return {
    columns: view.columns,
    rows: view.rows,
    json: documents,
    quiet: verdicts.map(({ status }) => status),
  };
}

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
export function reportedQuotes(documents: readonly string[], verdicts: readonly Verdict[]): ReportedFile[] {
  return documents.map((path) => ({
    path,
    issues: verdicts
      .filter(({ document, isTrue }) => document === path && !isTrue)
      .map((each) => ({
        ...{
          rule: each.status,
          severity: 'error',
          text: faultOf(each),
          line: each.line,
          column: each.column,
        },
      })),
  }));
}
