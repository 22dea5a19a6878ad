/** All files: filter, sort, group, download. */
import { h } from 'preact';
import { formats } from '../../catalog/formats.ts';
import { fileStates } from '../../catalog/states.ts';
import { forTerminal, shellWord } from '../../lib/text.ts';
import { post } from './api.ts';
import { type Child, el } from './el.ts';
import { minutesText, money } from './format.ts';
import { type Column, Listing, sortBy } from './list.ts';
import * as parts from './parts.ts';
import { filePath } from './route.ts';
import { Rows } from './rows.ts';
import type { FileDocument } from './types.ts';

const { a, p, span } = el;

export const rows = new Rows<FileDocument>({
  ...{ path: '/api/files', topic: 'files' },
  usual: { q: '', state: '', order: '', sort: 'ordered_at', dir: 'desc', group: '' },
  idOf: ({ audiofile }) => audiofile,
  stateOf: ({ state }) => state,
  growsAtTop: ({ sort, dir, group }) => sort === 'ordered_at' && dir === 'desc' && !group,
});

async function download(id: string, format: string): Promise<void> {
  parts.say(`Downloading ${format}…`);
  try {
    const path = `/api/file/${encodeURIComponent(id)}/download`;
    const saved = await post<{ path: string; skipped?: boolean }>(path, { format });
    parts.say(`${saved.skipped ? 'Already there' : 'Saved'}: ${saved.path}`);
  } catch (error) {
    parts.say((error as Error).message, true);
  }
}

/** The ways to save a transcript, or why there is none to save. */
export function downloads({ audiofile: id, ended, state }: FileDocument): Child {
  if (ended === 'unfinished')
    return p('muted', `${state}: this file ended without a transcript to download.`);
  const buttons = formats.map(({ ext, meaning }) => {
    const props = { 'aria-label': `Download ${ext}`, title: meaning };
    return parts.button(`↓ ${ext}`, () => void download(id, ext), props);
  });
  return [parts.command(`transcript ${shellWord(id)} --format txt`), p('buttons', buttons)];
}

function titleCell({ title: given, url, audiofile, feed, tags }: FileDocument, tabIndex: number) {
  const title = given || url || `audiofile ${audiofile}`;
  return [
    a({ href: filePath(audiofile), tabIndex, title: forTerminal(title.slice(0, 300)) }, parts.text(title)),
    ' ',
    feed && span('feed muted', `${feed.slice(0, 100)} `),
    tags.slice(0, 2).map((tag) => [span('chip', tag.slice(0, 40)), ' ']),
  ];
}

function moreButton(file: FileDocument, tabIndex: number) {
  const { audiofile, ended } = file;
  const props = { class: 'plain more', tabIndex, 'aria-label': `Actions for file ${audiofile}` };
  const id = shellWord(audiofile);
  const next = ended ? downloads(file) : parts.command(`wait ${id}`);
  const show = (): void => parts.showDialog(`File ${audiofile}`, [parts.command(`file ${id}`), next]);
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

const stateNames = fileStates.map(({ name }): parts.Choice => [name, name]);
const stateChoices: readonly parts.Choice[] = [['', 'All states'], ...stateNames];
const groupChoices = ['', 'order', 'feed', 'tag'].map(
  (by): parts.Choice => [by, by ? `By ${by}` : 'No groups'],
);
const sortChoices = columns.flatMap(([label, , sort]): parts.Choice[] =>
  sort ? [[sort, `Sort: ${label}`]] : [],
);

export function Files() {
  const { state = '', order = '', group = '', sort = '' } = rows.query.value;
  const sorting = parts.select('Sort', sort, sortChoices, (name) => sortBy(rows, columns, name));
  return h(Listing<FileDocument>, {
    ...{ rows, columns, noun: 'file', hint: 'Filter: title, id, order, key, tag, feed, state' },
    line: `files${order && ` --order ${shellWord(order)}`}${state && ` --state ${shellWord(state)}`}`,
    none: [
      'No files yet. Order one, and it appears here.',
      'order https://example.com/talk.mp3 --sku TRANS14',
    ],
    extra: [
      parts.select('State', state, stateChoices, (name) => rows.choose({ state: name })),
      parts.select('Group', group, groupChoices, (name) => rows.choose({ group: name })),
      span('only-narrow', sorting),
      order &&
        parts.button(`order ${order.slice(0, 40)} ×`, () => rows.choose({ order: '' }), {
          ...{ 'aria-pressed': true, title: 'Show all orders' },
        }),
    ],
  });
}
