/** All files: what needs a person, filter, sort, download. */
import { h } from 'preact';
import { fileStates } from '../../catalog/states.ts';
import { forTerminal, shellWord } from '../../lib/text.ts';
import { useLoad } from './api.ts';
import { Downloads } from './downloads.ts';
import { el } from './el.ts';
import { counted, countText, minutesText, money } from './format.ts';
import { attemptOf } from './health.ts';
import { type Column, Listing, sortBy } from './list.ts';
import { needText } from './need.ts';
import * as parts from './parts.ts';
import { filePath } from './route.ts';
import { Rows } from './rows.ts';
import type { FileDocument, Health } from './types.ts';

const { a, b, fieldset, legend, p, section, span } = el;

export const rows = new Rows<FileDocument>({
  ...{ path: '/api/files', topic: 'files' },
  usual: { q: '', state: '', order: '', kind: '', sort: 'ordered_at', dir: 'desc' },
  idOf: ({ audiofile }) => audiofile,
  stateOf: ({ state }) => state,
  growsAtTop: ({ sort, dir }) => sort === 'ordered_at' && dir === 'desc',
});

function titleCell(file: FileDocument, tabIndex: number) {
  const { title: given, url, audiofile, feed, tags } = file;
  const title = given || url || `audiofile ${audiofile}`;
  return [
    a({ href: filePath(audiofile), tabIndex, title: forTerminal(title.slice(0, 300)) }, parts.text(title)),
    ' ',
    feed && span('feed muted', `${feed.slice(0, 100)} `),
    tags.slice(0, 2).map((tag) => [span('chip', tag.slice(0, 40)), ' ']),
    needText(file),
  ];
}

function selectCell(file: FileDocument, tabIndex: number) {
  const { audiofile } = file;
  const onChange = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void =>
    rows.pick(audiofile, currentTarget.checked);
  const checked = rows.chosen.value.has(audiofile);
  return el.input({
    type: 'checkbox',
    'aria-label': `Select file ${audiofile}`,
    checked,
    tabIndex,
    onChange,
  });
}

const columns: ReadonlyArray<Column<FileDocument>> = [
  ['Select', selectCell],
  ['State', parts.stepsOf, 'state', 'asc'],
  ['Title', titleCell, 'title', 'asc'],
  ['Length', ({ minutes }) => minutesText(minutes), 'minutes', 'desc'],
  ['Cost', ({ total, currency }) => money(total, currency), 'total', 'desc'],
  ['Order', ({ order }) => order],
  ['Ordered', (file) => parts.timeAt(file.ordered_at), 'ordered_at', 'desc'],
  ['File', ({ audiofile }) => audiofile, 'audiofile', 'asc'],
];

const stateNames = fileStates.map(({ name }): parts.Choice => [name, name]);
const stateChoices: readonly parts.Choice[] = [['', 'All states'], ...stateNames];
const sortChoices = columns.flatMap(([label, , sort]): parts.Choice[] =>
  sort ? [[sort, `Sort: ${label}`]] : [],
);

type Counts = Readonly<Record<(typeof kinds)[number][0], number>>;
const kinds = [
  ['open', 'Open', ''],
  ['held', 'On hold', 'warn'],
  ['failed', 'Failed', 'bad'],
  ['uncertain', 'Uncertain', 'bad'],
  ['overdue', 'Overdue', 'bad'],
  ['delivered', 'Delivered', 'good'],
] as const;

/** How many there are of each kind: a click shows those alone, another one shows all again. */
function CountsBar() {
  const { data, error } = useLoad<Counts>('/api/counts', ['files']);
  const { kind: chosen = '' } = rows.query.value;
  const filters = kinds.map(([kind, name, tone]) => {
    const count = data ? countText(data[kind]) : '…';
    const choose = (): void => rows.choose({ kind: chosen === kind ? '' : kind });
    const content = [b(data?.[kind] ? tone : '', count), ' ', name];
    return parts.button(content, choose, { 'aria-pressed': chosen === kind });
  });
  return [fieldset('counts', legend('unseen', 'Show only'), filters), parts.failed(error)];
}

/** Orders, upgrades and refunds that nobody knows the end of: most have no file. */
function Uncertain() {
  const { data, error } = useLoad<Health['attempts']>('/api/attempts', ['files', 'spend']);
  const why = 'No clear answer came. Look at your account on the service, then say what became of it:';
  if (!data) return error ? parts.failed(error) : p('muted', 'Loading…');
  if (data.length === 0) return parts.empty('Nothing is uncertain: every outcome is known.');
  return section('panel', p('muted', why), parts.facts(data, attemptOf));
}

/** What can be done with the rows that were chosen. */
function Chosen() {
  const ids = [...rows.chosen.value];
  const clear = (): void => {
    rows.chosen.value = new Set();
  };
  if (ids.length === 0) return null;
  const title = [b('', `${counted(ids.length, 'file')} selected`), ' ', parts.button('Clear', clear)];
  return section(
    { class: 'panel chosen', 'aria-label': 'Selected files' },
    p('', title),
    h(Downloads, { ids }),
  );
}

const needing: readonly (string | undefined)[] = ['held', 'failed', 'overdue'];

export function Files() {
  const { state = '', order = '', kind = '', sort = '' } = rows.query.value;
  const sorting = parts.select('Sort', sort, sortChoices, (name) => sortBy(rows, columns, name));
  return h(Listing<FileDocument>, {
    ...{ rows, columns, noun: 'file', hint: 'Filter: title, id, order, key, tag, feed, state' },
    line: `files${order && ` --order ${shellWord(order)}`}${state && ` --state ${shellWord(state)}`}`,
    none: [
      'No files yet. Order one, and it appears here.',
      'order https://example.com/talk.mp3 --sku TRANS14',
    ],
    lead: [h(CountsBar, {}), h(Chosen, {})],
    ...(kind === 'uncertain' && { instead: h(Uncertain, {}) }),
    isTall: needing.includes(kind),
    extra: [
      parts.select('State', state, stateChoices, (name) => rows.choose({ state: name })),
      span('only-narrow', sorting),
      order &&
        parts.button(`order ${order.slice(0, 40)} ×`, () => rows.choose({ order: '' }), {
          ...{ 'aria-pressed': true, title: 'Show all orders' },
        }),
    ],
  });
}
