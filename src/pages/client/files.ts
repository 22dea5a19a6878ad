/** All files: filter, sort, group, download. */
import { h } from 'preact';
import { formats } from '../../catalog/formats.ts';
import { fileStates } from '../../catalog/states.ts';
import { shellWord } from '../../lib/text.ts';
import { type CallError, post } from './api.ts';
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
    parts.say(parts.errorText(error as CallError), true);
  }
}

function menuOf({ audiofile, ended }: FileDocument): parts.MenuItem[] {
  const id = shellWord(audiofile);
  const copyItem = (label: string, line: string): parts.MenuItem => {
    const whole = parts.commandLine(line);
    return [label, () => void parts.copy(whole), whole];
  };
  const downloads = formats.map(
    ({ ext }): parts.MenuItem => [`Download ${ext}`, () => void download(audiofile, ext)],
  );
  return [
    copyItem('Copy the command line', `file ${id}`),
    copyItem('Copy the next step', ended ? `transcript ${id} --format txt` : `wait ${id}`),
    ...(ended === 'delivered' ? downloads : []),
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

const moreButton = (file: FileDocument, tabIndex: number) =>
  parts.button(parts.icon('more'), (by) => parts.openMenu(by, menuOf(file)), {
    ...{ class: 'plain more', tabIndex, 'aria-haspopup': 'menu' },
    'aria-label': `Actions for file ${file.audiofile}`,
  });

const columns: ReadonlyArray<Column<FileDocument>> = [
  { label: 'State', name: 'state', sort: ['state', 'asc'], cell: parts.stepsOf },
  { label: 'Title', name: 'title', sort: ['title', 'asc'], cell: titleCell },
  { label: 'Length', name: 'length', sort: ['minutes', 'desc'], cell: ({ minutes }) => minutesText(minutes) },
  { label: 'Cost', name: 'cost', sort: ['total', 'desc'], cell: ({ total }) => money(total) },
  { label: 'Order', name: 'order', cell: ({ order }) => order },
  {
    label: 'Ordered',
    name: 'ordered',
    sort: ['ordered_at', 'desc'],
    cell: (file) => parts.timeAt(file.ordered_at),
  },
  { label: 'File', name: 'file', sort: ['audiofile', 'asc'], cell: ({ audiofile }) => audiofile },
  { label: 'Actions', name: 'actions', cell: moreButton },
];

const stateChoices: parts.Choices = [
  ['', 'All states'],
  ...fileStates.map(({ name }) => [name, name] as const),
];
const groupChoices: parts.Choices = [
  ['', 'No groups'],
  ...['order', 'feed', 'tag'].map((by) => [by, `By ${by}`] as const),
];
const sortChoices: parts.Choices = columns.flatMap(({ label, sort }) =>
  sort ? [[sort[0], `Sort: ${label}`]] : [],
);

export function Files() {
  const { state = '', group = '', sort = '' } = rows.query.value;
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
      span(
        'only-narrow',
        parts.select('Sort', sort, sortChoices, (name) => sortBy(rows, columns, name)),
      ),
    ],
  });
}
