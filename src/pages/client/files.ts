/** All files: what needs a person, filter, sort, download. */
import { signal } from '@preact/signals';
import { h } from 'preact';
import { fileStates } from '../../catalog/states.ts';
import { forTerminal, shellWord } from '../../lib/text.ts';
import { useLoad } from './api.ts';
import { el } from './el.ts';
import { Downloads, needText } from './file.ts';
import { counted, countText, minutesText, money } from './format.ts';
import { useAttempts } from './health.ts';
import { type Column, choose, Listing, listOf, queryOf, sortBy } from './list.ts';
import * as parts from './parts.ts';
import { filePath } from './route.ts';
import type { FileDocument } from './types.ts';

const { a, b, fieldset, legend, p, section, span } = el;

/** The ids of the files that were selected. */
const selected = signal<readonly string[]>([]);

const select = (ids: readonly string[]): void => {
  selected.value = ids;
};

const selectCell = ({ audiofile: id }: FileDocument, tabIndex: number) =>
  parts.tick(id, selected.value, select, { 'aria-label': `Select file ${id}`, tabIndex });

/** Selects the rows in view, or none. */
function selectHead(inView: () => readonly FileDocument[]) {
  const checked = selected.value.length > 0;
  const onChange = (): void => select(checked ? [] : inView().map(({ audiofile }) => audiofile));
  return el.input({ type: 'checkbox', 'aria-label': 'Select the rows in view', checked, onChange });
}

function titleCell(file: FileDocument, tabIndex: number) {
  const { audiofile, feed, tags } = file;
  const title = parts.titleOf(file);
  return [
    a({ href: filePath(audiofile), tabIndex, title: forTerminal(title.slice(0, 300)) }, parts.text(title)),
    ' ',
    feed && span('feed muted', `${feed.slice(0, 100)} `),
    tags.slice(0, 2).map((tag) => [span('chip', tag.slice(0, 40)), ' ']),
    needText(file),
  ];
}

const columns: ReadonlyArray<Column<FileDocument>> = [
  { title: 'Select', cell: selectCell, head: selectHead },
  { title: 'State', cell: parts.stepsOf, sort: 'state' },
  { title: 'Title', cell: titleCell, sort: 'title' },
  { title: 'Length', cell: ({ minutes }) => minutesText(minutes), sort: 'minutes', dir: 'desc' },
  { title: 'Cost', cell: ({ total, currency }) => money(total, currency), sort: 'total', dir: 'desc' },
  { title: 'Order', cell: ({ order }) => order },
  { title: 'Ordered', cell: (file) => parts.timeAt(file.ordered_at), sort: 'ordered_at', dir: 'desc' },
  { title: 'File', cell: ({ audiofile }) => audiofile, sort: 'audiofile' },
];

export const list = listOf<FileDocument>({
  ...{ path: '/api/files', topic: 'files', noun: 'file', columns, idOf: ({ audiofile }) => audiofile },
  hint: 'Filter: title, id, order, key, tag, feed, state',
  usual: { q: '', state: '', order: '', kind: '', sort: 'ordered_at', dir: 'desc' },
});

const stateNames = fileStates.map(({ name }): parts.Choice => [name, name]);
const stateChoices: readonly parts.Choice[] = [['', 'All states'], ...stateNames];
const sortChoices = columns.flatMap(({ title, sort }): parts.Choice[] =>
  sort ? [[sort, `Sort: ${title}`]] : [],
);

const kinds = [
  ['open', 'Open', ''],
  ['held', 'On hold', 'warn'],
  ['failed', 'Failed', 'bad'],
  ['uncertain', 'Uncertain', 'bad'],
  ['overdue', 'Overdue', 'bad'],
  ['delivered', 'Delivered', 'good'],
] as const;
type Counts = Readonly<Record<(typeof kinds)[number][0], number>>;

/** How many there are of each kind: a click shows those alone, another one shows all again. */
function CountsBar() {
  const { data, error } = useLoad<Counts>('/api/counts', ['files']);
  const { kind: chosen = '' } = queryOf(list);
  const filters = kinds.map(([kind, name, tone]) => {
    const count = data ? countText(data[kind]) : '…';
    const toggle = (): void => choose(list, { kind: chosen === kind ? '' : kind });
    const content = [b(data?.[kind] ? tone : '', count), ' ', name];
    return parts.button(content, toggle, { 'aria-pressed': chosen === kind });
  });
  return [fieldset('counts', legend('unseen', 'Show only'), filters), parts.failed(error)];
}

const Uncertain = () =>
  section('panel', useAttempts(parts.empty('Nothing is uncertain: every outcome is known.')));

/** What can be done with the rows that were selected. */
function Selected() {
  const ids = selected.value;
  if (ids.length === 0) return null;
  const clear = parts.button('Clear', () => select([]));
  const title = p('', b('', `${counted(ids.length, 'file')} selected`), ' ', clear);
  const props = { class: 'panel chosen', 'aria-label': 'Selected files' };
  return section(props, title, h(Downloads, { ids }));
}

const needing: readonly (string | undefined)[] = ['held', 'failed', 'overdue'];

export function Files() {
  const { state = '', order = '', kind = '', sort = '' } = queryOf(list);
  const sorting = parts.select('Sort', sort, sortChoices, (name) => sortBy(list, name));
  const allOrders = (): void => choose(list, { order: '' });
  const props = { 'aria-pressed': true, title: 'Show all orders' };
  return h(Listing<FileDocument>, {
    list,
    line: `files${order && ` --order ${shellWord(order)}`}${state && ` --state ${shellWord(state)}`}`,
    none: [
      'No files yet. Order one, and it appears here.',
      'order https://example.com/talk.mp3 --sku TRANS14',
    ],
    lead: [h(CountsBar, {}), h(Selected, {})],
    instead: kind === 'uncertain' ? h(Uncertain, {}) : undefined,
    isTall: needing.includes(kind),
    extra: [
      parts.select('State', state, stateChoices, (name) => choose(list, { state: name })),
      span('only-narrow', sorting),
      order && parts.button(`order ${order.slice(0, 40)} ×`, allOrders, props),
    ],
  });
}
