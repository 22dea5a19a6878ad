/** What a person must look at in transcripts: rows, and a task list in Markdown. */
import { isAbsolute, relative } from 'node:path';
import type { Outcome } from '../flows/bulk.ts';
import type { Checked } from '../flows/check/check.ts';
import type { Judged } from '../flows/check/finding.ts';
import type { Json } from '../lib/json.ts';
import { audioClock } from '../lib/time.ts';
import type { View } from '../lib/view.ts';
import type { TranscriptFile } from '../transcripts/model.ts';
import * as a from './fields.ts';
import { type CommandOutput, documents, failed, printed, ranked } from './record.ts';
import { type ReportedFile, UNREADABLE } from './reports.ts';
import * as is from './schema.ts';

interface Found extends Judged {
  readonly file: TranscriptFile;
  /** Its time is shown in whole seconds. */
  readonly isInSeconds?: boolean;
}

const findingRecord = ranked<Found>('rule path time line text severity', [
  a.word('path', 'path of the transcript', ({ file }) => file.path, {
    header: 'file',
    kind: 'link',
    enough: 22,
  }),
  a.text('audiofile', 'audiofile id, if known', ({ file }) => file.audiofile, { more: true }),
  a.text('title', 'title of the audio, if known', ({ file }) => file.title, { cell: false }),
  a.count('line', 'line of the transcript; in a docx, its paragraph', 'line'),
  a.text(
    'time',
    'position in the audio: hh:mm:ss.mmm',
    ({ start, isInSeconds }) => (start === undefined ? null : audioClock(start, isInSeconds ? '' : '.')),
    { uncut: true },
  ),
  a.seconds('start', 'the same in seconds; null if unknown', 'start', { more: true }),
  a.word('rule', 'what is wrong', 'rule', { kind: 'state' }),
  a.word('severity', 'error or warning; warnings are about style', 'severity', {
    ...{ kind: 'state', schema: is.oneOf('error', 'warning') },
  }),
  a.word('text', 'the words in question, or what is wrong', 'text'),
]);

export const checkOutput = (): CommandOutput =>
  printed(is.arrayOf(is.anyOf(findingRecord.schema, failed('path'))), findingRecord.columnHelp);

export interface FindingsForm {
  /** People read it: on a terminal of this width, or as Markdown. */
  readonly isBrief: boolean;
  readonly width?: number | undefined;
  /** The current folder. */
  readonly folder: string;
}

const PAGE_SIZE = 2000;

/** --quiet has the paths, --markdown a list of tasks. What can't be read is an element of the JSON alone. */
export function* findingPages(outcomes: readonly Outcome<Checked>[], form: FindingsForm): Generator<View> {
  const files = new Set(outcomes.flatMap(({ value }) => (value?.found.length ? [value.file.path] : [])));
  const only = form.width === undefined ? inMarkdown : onTerminal.slice(files.size > 1 ? 0 : 1);
  const all = [...findingsOf(outcomes)];
  for (let at = 0; at === 0 || at < all.length; at += PAGE_SIZE) {
    const page = all.slice(at, at + PAGE_SIZE);
    const found = page.flatMap(({ value }) => value ?? []);
    yield findingRecord.view(form.isBrief ? found.map((each) => forPerson(each, form)) : found, {
      ...(form.isBrief && { only }),
      json: () => jsonOf(page),
      // Each path once, on whatever page.
      quiet: found.flatMap(({ file }) => (files.delete(file.path) ? [file.path] : [])),
      asTasks: form.isBrief,
    });
  }
}

/** What --json has. */
export const findingsJson = (outcomes: readonly Outcome<Checked>[]): Json =>
  jsonOf([...findingsOf(outcomes)]);

/** For `--report`: a docx has no lines, and of a json they are not known. */
export const reportedFiles = (outcomes: readonly Outcome<Checked>[]): ReportedFile[] =>
  outcomes.map(({ what, value, error }): ReportedFile => {
    if (error) return { path: what, issues: [{ rule: UNREADABLE, severity: 'error', text: error.message }] };
    const { file, found } = value;
    const lineOf = (line: number) => (file.format === 'docx' || file.format === 'json' ? undefined : line);
    const issues = found.map(({ line, start, ...each }) => ({ ...each, line: lineOf(line), time: start }));
    return { path: file.path, issues };
  });

const jsonOf = (page: readonly Outcome<Found>[]): Json => documents(page, findingRecord.json, 'path');

function* findingsOf(outcomes: readonly Outcome<Checked>[]): Generator<Outcome<Found>> {
  for (const outcome of outcomes)
    if (outcome.error) yield outcome;
    else
      for (const finding of outcome.value.found)
        yield { what: outcome.what, value: { ...finding, file: outcome.value.file } };
}

const onTerminal = ['path', 'line', 'time', 'severity', 'rule', 'text'];
const inMarkdown = onTerminal.filter((name) => name !== 'line');

/** In Markdown the line stands with the file. On a terminal the mark must be where the text is not cut. */
function forPerson(found: Found, { width, folder }: FindingsForm): Found {
  const { file, line, text, markAt = 0 } = found;
  const name = nameOf(file, folder);
  if (width === undefined) {
    const path = `${name} ${file.format === 'docx' ? 'paragraph' : 'line'} ${line}`;
    return { ...found, file: { ...file, path } };
  }
  const from = markAt - Math.max(MIN_LEAD, width / 2 - WIDTH_OF_OTHERS);
  const shown = from > 1 ? text.slice(from).replace(/^\S*\s?/, '…') : text;
  return { ...found, file: { ...file, path: name }, isInSeconds: true, text: shown };
}

/** What a person sees of the text before a mark, at least, and about half of what the other columns take. */
const [MIN_LEAD, WIDTH_OF_OTHERS] = [8, 40];

/** Others who read it have other folders: no path from the root. */
function nameOf({ path, audiofile, title }: TranscriptFile, folder: string): string {
  if (!isAbsolute(path)) return path;
  const name = relative(folder, path);
  const isBelow = !isAbsolute(name) && !name.startsWith('..');
  return isBelow || !audiofile ? name : [audiofile, title].filter(Boolean).join(' ');
}
