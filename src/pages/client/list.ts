/** A page that is one long list. The server has all rows; the page has a slice of them, and shows those in view. */
import { type Signal, signal } from '@preact/signals';
import { h } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Topic, useLoad } from './api.ts';
import { type Child, el } from './el.ts';
import { counted, countText } from './format.ts';
import { focusOn, useKeys } from './keys.ts';
import { button, command, empty, failed, searchField, tools, useTyped } from './parts.ts';
import { keep, pathWith, route } from './route.ts';

const { div, h1, main, output, p, span, table, tbody, td, th, thead, tr } = el;

function matched(query: string): Signal<boolean> {
  const media = matchMedia(query);
  const isMatched = signal(media.matches);
  media.addEventListener('change', ({ matches }) => {
    isMatched.value = matches;
  });
  return isMatched;
}

const isNarrow = matched('screen and (max-width: 760px)');
const isPrinted = matched('print');
const TYPING_PAUSE_MS = 120;
/** Rows beyond the view, added after the first paint, so that a quick scroll finds them. */
const SPARE = 8;
/** Rows that are asked for at a time: what a window can show, and some above and below. */
const ABOVE = 24;
const SLICE = Math.ceil(screen.height / 37) + 2 * ABOVE;

type Query = Readonly<Record<string, string>>;

/** A list: where its rows are, the query that nothing was chosen for, and how it was left. */
export const listOf = (path: string, topic: Topic, usual: Query) => ({
  ...{ path, topic, usual, question: '' },
  /** The first row of the slice, how far it is scrolled, and the current row. */
  ...{ offset: 0, top: 0, cursor: 0 },
});
type List = ReturnType<typeof listOf>;

/** What the address asks for. */
export function queryOf({ usual }: List): Query {
  const { params } = route.value;
  return Object.fromEntries(Object.entries(usual).map(([name, each]) => [name, params.get(name) ?? each]));
}

export function choose(list: List, change: Query): void {
  const chosen = Object.entries({ ...queryOf(list), ...change });
  keep(Object.fromEntries(chosen.filter(([name, value]) => value !== list.usual[name])));
}

/** The path of the slice; another question begins at the top. */
export function sliceOf(list: List): string {
  const question = pathWith(list.path, { ...queryOf(list), limit: SLICE });
  if (question !== list.question) Object.assign(list, { question, offset: 0, top: 0, cursor: 0 });
  return `${question}&offset=${list.offset}`;
}

/** `sort`: how the server names it. */
export interface Column<Row> {
  /** Its class is the first word of it. */
  readonly title: string;
  readonly cell: (row: Row, tabIndex: number) => Child;
  readonly sort?: string;
  readonly dir?: 'asc' | 'desc';
  /** In place of the title; it is given the rows in view. */
  readonly head?: (rows: readonly Row[]) => Child;
}

interface ListingProps<Row> {
  readonly list: List;
  /** `file`, `event`. */
  readonly noun: string;
  readonly hint: string;
  readonly columns: ReadonlyArray<Column<Row>>;
  readonly idOf: (row: Row) => string;
  /** New rows come at the top: then what is in view stays in view. */
  readonly growsAtTop: boolean;
  /** Beside the filter. */
  readonly extra: Child;
  readonly line: string;
  readonly none: readonly [title: string, line: string];
  /** Above the tools: other ways to look at it. */
  readonly lead?: Child;
  /** In place of the list. */
  readonly instead?: Child;
  /** Each row has a line more. */
  readonly isTall?: boolean;
}

const labelOf = (noun: string): string => `${noun[0]?.toUpperCase()}${noun.slice(1)}s`;

interface Slice<Row> extends Readonly<Record<'total' | 'all', number>> {
  readonly rows: readonly Row[];
  /** What it answers, and its first row. */
  readonly question: string;
  readonly offset: number;
}

export function Listing<Row>(props: ListingProps<Row>) {
  const { list, noun, hint, extra, line, none, lead, instead } = props;
  const [, renew] = useState({});
  const last = useRef<Slice<Row> | undefined>(undefined);
  const { data, error } = useLoad<Slice<Row>>(sliceOf(list), [list.topic]);
  // Until the answer to another question comes, the rows stay.
  const { question, offset } = list;
  if (data && data.rows !== last.current?.rows) last.current = { ...data, question, offset };
  const { current: slice } = last;
  const { typed, setTyped } = useTyped(queryOf(list).q ?? '', TYPING_PAUSE_MS, (q) => choose(list, { q }));
  const load = (from: number): void => {
    list.offset = from;
    renew({});
  };
  useKeys({ '/': focusOn('#filter') });
  const content = (): Child => {
    const { total = -1, all = 0 } = slice ?? {};
    const count = total === all ? counted(all, noun) : `${countText(total)} of ${countText(all)}`;
    const showAll = button(`Show all ${noun}s`, () => choose(list, list.usual));
    const field = searchField('filter', `Filter ${noun}s`, typed, setTyped, hint);
    return [
      tools(field, extra, output('count muted', slice ? count : ''), command(line)),
      failed(error),
      !slice && !error && p('muted', 'Loading…'),
      total === 0 && !all && empty(...none),
      total === 0 && all > 0 && empty(`None of ${counted(all, noun)} matches.`, undefined, showAll),
      slice && total > 0 && h(Table<Row>, { ...props, slice, load }),
    ];
  };
  return main({ class: 'wide', tabIndex: -1 }, h1('unseen', labelOf(noun)), lead, instead ?? content());
}

interface TableProps<Row> extends ListingProps<Row> {
  readonly slice: Slice<Row>;
  readonly load: (from: number) => void;
}

function Table<Row>(props: TableProps<Row>) {
  const { list, noun, slice, load, growsAtTop, isTall = false } = props;
  const { total, rows, offset } = slice;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: list.top, height: innerHeight });
  const [spare, setSpare] = useState(0);
  const [, renew] = useState({});
  const wantsFocus = useRef(false);
  const isPrinting = isPrinted.value;
  const [high, low] = isNarrow.value ? [122, 62] : [62, 37];
  const height = isTall ? high : low;
  const cursor = Math.min(list.cursor, total - 1);
  const end = Math.ceil((view.top + view.height) / height) + spare;
  const from = isPrinting ? offset : Math.max(0, Math.floor(view.top / height) - spare);
  const to = isPrinting ? offset + rows.length : Math.min(total, end);

  const see = (): void => {
    const { scrollTop: top = 0, clientHeight = innerHeight } = box.current ?? {};
    list.top = top;
    // A few rows more than are in view cost less than another look.
    setView((old) => (old.top === top && old.height >= clientHeight ? old : { top, height: clientHeight }));
  };
  const scrollTo = (top: number): void => {
    if (box.current) box.current.scrollTop = top;
    see();
  };
  const before = useRef(slice);
  useLayoutEffect(() => {
    const { question, total: known } = before.current;
    before.current = slice;
    if (question !== slice.question) scrollTo(0);
    else if (growsAtTop && total > known && list.top > 0) scrollTo(list.top + (total - known) * height);
  }, [slice]);
  useLayoutEffect(() => {
    // Checking first would force another layout.
    if (view.top) scrollTo(view.top);
    const watch = new ResizeObserver(see);
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  useEffect(() => setSpare(SPARE), []);
  useEffect(() => {
    // Not the rows of this render: the list may have been scrolled since.
    const first = Math.floor(list.top / height);
    const past = Math.min(total, first + to - from);
    if (first < offset || past > offset + rows.length) load(Math.max(0, first - ABOVE));
  }, [from, to, slice]);

  /** The row may not be there yet. */
  const focusRow = (at: number): void => {
    const link = box.current?.querySelector<HTMLElement>(`[data-row="${at}"] a`);
    link?.focus({ preventScroll: true });
    wantsFocus.current = !link;
  };
  useEffect(() => {
    // Not the cursor of this render: a key may have moved it since.
    if (wantsFocus.current) focusRow(list.cursor);
  });
  const moveTo = (wanted: number): void => {
    list.cursor = Math.max(0, Math.min(total - 1, wanted));
    renew({});
    const { scrollTop = 0, clientHeight = 0 } = box.current ?? {};
    const [top, room] = [list.cursor * height, clientHeight - 2 * height];
    if (top < scrollTop + height) scrollTo(top - height);
    else if (top > scrollTop + room) scrollTo(top - room);
    focusRow(list.cursor);
  };
  const move = (step: number) => (): void => {
    // The first key goes to the current row, if nothing in the list has the focus yet.
    const isInside = wantsFocus.current || box.current?.contains(document.activeElement);
    moveTo(list.cursor + (isInside ? step : 0));
  };
  useKeys({
    ...{ ArrowDown: move(1), ArrowUp: move(-1) },
    ...{ Home: () => moveTo(0), End: () => moveTo(total - 1) },
  });

  const indexes = Array.from({ length: Math.max(0, to - from) }, (_, by) => from + by);
  const shown = indexes.map((at) => rowOf(props, at, at === cursor));
  const here = indexes.flatMap((at) => rows[at - offset] ?? []);
  const style = isPrinting ? {} : { height: `${total * height}px`, paddingTop: `${from * height}px` };
  const names = { 'aria-label': labelOf(noun), 'aria-rowcount': total + 1 };
  return div(
    { ref: box, class: isTall ? 'list tall' : 'list', onScroll: see },
    table(names, thead('', headOf(props, here)), tbody({ style }, shown)),
    isPrinting && rows.length < total && `Rows ${from + 1} to ${to} of ${total}.`,
  );
}

/** Sorts by a column; the other way round if it does already. */
export function sortBy<Row>(list: List, columns: ReadonlyArray<Column<Row>>, name: string): void {
  const { sort, dir } = queryOf(list);
  const usual = columns.find((each) => each.sort === name)?.dir ?? 'asc';
  const other = dir === 'asc' ? 'desc' : 'asc';
  choose(list, { sort: name, dir: sort === name ? other : usual });
}

const classOf = ({ title }: { readonly title: string }): string => title.toLowerCase().split(' ', 1)[0] ?? '';

function headOf<Row>({ list, columns, noun }: TableProps<Row>, here: readonly Row[]): Child {
  const { sort, dir } = queryOf(list);
  const direction = dir === 'asc' ? 'ascending' : 'descending';
  const heads = columns.map((column) => {
    const { title, sort: own, head = () => title } = column;
    const props = { scope: 'col', class: classOf(column) } as const;
    if (!own) return th(props, head(here));
    const sorter = button(title, () => sortBy(list, columns, own));
    return th({ ...props, 'aria-sort': own === sort ? direction : 'none' }, sorter);
  });
  return tr(`row ${noun}s`, heads);
}

function rowOf<Row>({ columns, noun, slice, idOf }: TableProps<Row>, at: number, isCurrent: boolean): Child {
  const place = { 'aria-rowindex': at + 2 };
  const row = slice.rows[at - slice.offset];
  const kind = `row ${noun}s`;
  if (row === undefined)
    return tr({ ...place, key: `at ${at}`, class: `${kind} waiting` }, td('', span('unseen', 'Loading')));
  // Only the controls of the current row are in the order of Tab.
  const cells = columns.map((column) => td(classOf(column), column.cell(row, isCurrent ? 0 : -1)));
  const name = isCurrent ? `${kind} current` : kind;
  return tr({ ...place, key: idOf(row), class: name, 'data-row': at }, cells);
}
