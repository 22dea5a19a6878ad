/** All files: filter, sort, group, download. */
import { h } from 'preact';
import { formats } from '../../catalog/formats.ts';
import { fileStates } from '../../catalog/states.ts';
import { shellWord } from '../../lib/text.ts';
import { post } from './api.ts';
import { el } from './el.ts';
import { minutesText, money } from './format.ts';
import { type Column, Listing, sortBy } from './list.ts';
import * as parts from './parts.ts';
import { filePath } from './route.ts';
import { Rows } from './rows.ts';
import type { FileDocument } from './types.ts';

const { a, span } = el;

const rows = new Rows<FileDocument>({
  ...{ path: '/api/files', topic: 'files' },
  usual: { q: '', state: '', sort: 'ordered_at', dir: 'desc', group: '' },
  idOf: ({ audiofile }) => audiofile,
  stateOf: ({ state }) => state,
  growsAtTop: ({ sort, dir, group }) => sort === 'ordered_at' && dir === 'desc' && !group,
});

export async function download(id: string, format: string): Promise<void> {
  parts.say(`Downloading ${format}…`);
  try {
    const path = `/api/file/${encodeURIComponent(id)}/download`;
    const saved = await post<{ path: string; skipped?: boolean }>(path, { format });
    parts.say(`${saved.skipped ? 'Was there already' : 'Saved'}: ${saved.path}`);
  } catch (error) {
    parts.say((error as Error).message, true);
  }
}

function itemsOf({ audiofile, ended }: FileDocument): parts.Item[] {
  const id = shellWord(audiofile);
  const copyItem = (label: string, line: string): parts.Item => {
    const whole = parts.commandLine(line);
    return [label, () => void parts.copy(whole), whole];
  };
  const downloadItem = (ext: string): parts.Item => [`Download ${ext}`, () => void download(audiofile, ext)];
  return [
    copyItem('Copy the command line', `file ${id}`),
    copyItem('Copy the next step', ended ? `transcript ${id} --format txt` : `wait ${id}`),
    ...(ended === 'delivered' ? formats.map(({ ext }) => downloadItem(ext)) : []),
  ];
}

function titleCell({ title: given, url, audiofile, feed, tags }: FileDocument, tabIndex: number) {
  const title = given || url || `audiofile ${audiofile}`;
  return [
    a({ href: filePath(audiofile), tabIndex, title: title.slice(0, 300) }, parts.text(title)),
    ' ',
    feed && span('feed muted', `${feed.slice(0, 100)} `),
    tags.slice(0, 2).map((tag) => span('chip', tag.slice(0, 40))),
  ];
}

function moreButton(file: FileDocument, tabIndex: number) {
  const props = { class: 'plain more', tabIndex, 'aria-label': `Actions for file ${file.audiofile}` };
  const show = (): void => parts.showDialog(`File ${file.audiofile}`, parts.items(itemsOf(file)));
  return parts.button('⋯', show, props);
}

const columns: ReadonlyArray<Column<FileDocument>> = [
  ['State', parts.stepsOf, 'state', 'asc'],
  ['Title', titleCell, 'title', 'asc'],
  ['Length', ({ minutes }) => minutesText(minutes), 'minutes', 'desc'],
  ['Cost', ({ total }) => money(total), 'total', 'desc'],
  ['Order', ({ order }) => order],
  ['Ordered', (file) => parts.timeAt(file.ordered_at), 'ordered_at', 'desc'],
  ['File', ({ audiofile }) => audiofile, 'audiofile', 'asc'],
  ['Actions', moreButton],
];

const same = (name: string): parts.Choice => [name, name];
const stateChoices = [['', 'All states'] as const, ...fileStates.map(({ name }) => same(name))];
const groupChoices = ['', 'order', 'feed', 'tag'].map(
  (by): parts.Choice => [by, by ? `By ${by}` : 'No groups'],
);
const sortChoices = columns.flatMap(([label, , sort]): parts.Choice[] =>
  sort ? [[sort, `Sort: ${label}`]] : [],
);

export function Files() {
  const { state = '', group = '', sort = '' } = rows.query.value;
  const sorting = parts.select('Sort', sort, sortChoices, (name) => sortBy(rows, columns, name));
  return h(Listing<FileDocument>, {
    ...{ rows, columns, noun: 'file', hint: 'Filter: title, id, order, key, tag, feed, state' },
    line: state ? `files --state ${shellWord(state)}` : 'files',
    none: [
      'No files yet. Order one, and it appears here.',
      'order https://example.com/talk.mp3 --sku TRANS14',
    ],
    extra: [
      parts.select('State', state, stateChoices, (name) => rows.choose({ state: name })),
      parts.select('Group', group, groupChoices, (name) => rows.choose({ group: name })),
      span('only-narrow', sorting),
    ],
  });
}
