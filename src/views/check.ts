/** What a person must look at in transcripts: rows, and a task list in Markdown. */
import type { Outcome } from '../flows/bulk.ts';
import type { Found } from '../flows/check/check.ts';
import { audioClock } from '../lib/time.ts';
import type { View } from '../lib/view.ts';
import {
  type CommandOutput,
  countField,
  documents,
  failed,
  numberField,
  printed,
  RecordType,
  textField,
  wordField,
} from './record.ts';
import * as is from './schema.ts';

const findingRecord = new RecordType<Found>([
  wordField('path', 'path of the transcript', ({ file }) => file.path, {
    ...{ header: 'file', kind: 'link', importance: 70 },
  }),
  textField('audiofile', 'audiofile id, if known', ({ file }) => file.audiofile, { importance: 20 }),
  textField('title', 'title of the audio, if known', ({ file }) => file.title, { cell: false }),
  countField('line', 'line of the transcript; in a docx, its paragraph', 'line', { importance: 30 }),
  {
    ...{ name: 'time', help: 'position in the audio, as hh:mm:ss.mmm', schema: is.maybeText },
    ...{
      importance: 80,
      uncut: true,
      cell: ({ start }) => (start === undefined ? '' : audioClock(start, '.')),
    },
  },
  numberField(
    'start',
    'position in the audio, in seconds; null if unknown',
    ({ start }) => (start === undefined ? undefined : start / 1000),
    { cell: false },
  ),
  wordField('rule', 'what is wrong', 'rule', { kind: 'state', importance: 95 }),
  wordField('severity', 'error for a fact, warning for a matter of style', 'severity', {
    ...{ kind: 'state', importance: 85, schema: is.oneOf('error', 'warning') },
  }),
  wordField('text', 'the words in question, or what is wrong', 'text', { importance: 90 }),
]);

export const checkOutput = (): CommandOutput =>
  printed(is.arrayOf(is.anyOf(findingRecord.schema, failed('path'))), findingRecord.columnHelp);

/** --quiet has the paths, --markdown a list of tasks. What can't be read is an element of the JSON alone. */
export function findingsView(outcomes: readonly Outcome<readonly Found[]>[], isBrief: boolean): View {
  const each = outcomes.flatMap((outcome): Outcome<Found>[] =>
    outcome.error ? [outcome] : outcome.value.map((value) => ({ what: outcome.what, value })),
  );
  const found = each.flatMap(({ value }) => value ?? []);
  const view = findingRecord.view(found);
  const { columns, rows } = isBrief ? findingRecord.some(view, brief) : view;
  return {
    ...{ columns, rows, asTasks: isBrief },
    quiet: [...new Set(found.map(({ file }) => file.path))],
    json: documents(each, (value) => findingRecord.json(value), {
      name: (at) => ({ path: each[at]?.what ?? '' }),
      isList: true,
    }),
  };
}

const brief = ['path', 'time', 'severity', 'rule', 'text'];
