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
/** Rows that are asked for at a time, some of them above the view. */
const SLICE = 200;
const ABOVE = 60;
/** What is printed of a long list. */
const PRINTED_ROWS = 500;

type Query = Readonly<Record<string, string>>;

/** What a list asks for, and how it was left: the way back leads there. */
export class Rows {
  readonly path: string;
  readonly topic: Topic;
  /** The query of a list that nothing was chosen for. */
  readonly usual: Query;
  #question = '';
  /** The first row of the slice, how far the list is scrolled, and the current row. */
  offset = 0;
  top = 0;
  cursor = 0;

  constructor(path: string, topic: Topic, usual: Query) {
    this.path = path;
    this.topic = topic;
    this.usual = usual;
  }

  /** What the address asks for. */
  get query(): Query {
    const { params } = route.value;
    const given = Object.entries(this.usual).map(([name, usual]) => [name, params.get(name) ?? usual]);
    return Object.fromEntries(given) as Query;
  }

  choose(change: Query): void {
    const chosen = Object.entries({ ...this.query, ...change });
    keep(Object.fromEntries(chosen.filter(([name, value]) => value !== this.usual[name])));
  }

  /** The path of the slice; another question begins at the top. */
  get slice(): string {
    const question = pathWith(this.path, { ...this.query, limit: SLICE });
    if (question !== this.#question) Object.assign(this, { offset: 0, top: 0, cursor: 0 });
    this.#question = question;
    return `${question}&offset=${this.offset}`;
  }
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
  readonly rows: Rows;
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

interface Slice<Row> {
  readonly offset: number;
  readonly total: number;
  readonly all: number;
  readonly rows: readonly Row[];
}

export function Listing<Row>(props: ListingProps<Row>) {
  const { rows, noun, hint, extra, line, none, lead, instead } = props;
  const [, renew] = useState({});
  const last = useRef<Slice<Row> | undefined>(undefined);
  const path = rows.slice;
  const { data, error } = useLoad<Omit<Slice<Row>, 'offset'>>(path, [rows.topic]);
  // Until the answer to another question comes, the rows stay.
  if (data && data.rows !== last.current?.rows) last.current = { ...data, offset: rows.offset };
  const { current: slice } = last;
  const { typed, setTyped } = useTyped(rows.query.q ?? '', TYPING_PAUSE_MS, (q) => rows.choose({ q }));
  const setOffset = (offset: number): void => {
    rows.offset = offset;
    renew({});
  };
  useKeys({ '/': focusOn('#filter') });
  const list = (): Child => {
    const { total = -1, all = 0 } = slice ?? {};
    const count = total === all ? counted(all, noun) : `${countText(total)} of ${countText(all)}`;
    const showAll = button(`Show all ${noun}s`, () => rows.choose(rows.usual));
    const field = searchField('filter', `Filter ${noun}s`, typed, setTyped, hint);
    return [
      tools(field, extra, output('count muted', slice ? count : ''), command(line)),
      failed(error),
      !slice && !error && p('muted', 'Loading…'),
      total === 0 && !all && empty(...none),
      total === 0 && all > 0 && empty(`None of ${counted(all, noun)} matches.`, undefined, showAll),
      slice && total > 0 && h(List<Row>, { ...props, slice, question: path.split('&offset')[0], setOffset }),
    ];
  };
  return main({ class: 'wide', tabIndex: -1 }, h1('unseen', labelOf(noun)), lead, instead ?? list());
}

interface ListProps<Row> extends ListingProps<Row> {
  readonly slice: Slice<Row>;
  readonly question: string | undefined;
  readonly setOffset: (offset: number) => void;
}

function List<Row>(props: ListProps<Row>) {
  const { rows, noun, slice, question, setOffset, growsAtTop, isTall = false } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: rows.top, height: innerHeight });
  const [spare, setSpare] = useState(0);
  const [, renew] = useState({});
  const wantsFocus = useRef(false);
  const isPrinting = isPrinted.value;
  const [high, low] = isNarrow.value ? [122, 62] : [62, 37];
  const height = isTall ? high : low;
  const count = slice.total;
  const cursor = Math.min(rows.cursor, count - 1);
  const end = Math.ceil((view.top + view.height) / height) + spare;
  const from = isPrinting ? 0 : Math.max(0, Math.floor(view.top / height) - spare);
  const to = Math.min(count, isPrinting ? PRINTED_ROWS : end);

  const see = (): void => {
    const { scrollTop: top = 0, clientHeight = innerHeight } = box.current ?? {};
    rows.top = top;
    // A few rows more than are in view cost less than another look.
    setView((old) => (old.top === top && old.height >= clientHeight ? old : { top, height: clientHeight }));
  };
  const scrollTo = (top: number): void => {
    if (box.current) box.current.scrollTop = top;
    see();
  };
  const before = useRef({ question, count });
  useLayoutEffect(() => {
    const { question: asked, count: known } = before.current;
    before.current = { question, count };
    if (asked !== question) scrollTo(0);
    else if (growsAtTop && count > known && rows.top > 0) scrollTo(rows.top + (count - known) * height);
  }, [slice]);
  useLayoutEffect(() => {
    // To look would cost a layout of its own.
    if (view.top) scrollTo(view.top);
    const watch = new ResizeObserver(see);
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  useEffect(() => setSpare(SPARE), []);
  useEffect(() => {
    // Not the rows of this render: the list may have been scrolled since.
    const first = Math.floor(rows.top / height);
    const past = Math.min(count, first + to - from);
    if (first < slice.offset || past > slice.offset + slice.rows.length)
      setOffset(Math.max(0, first - ABOVE));
  }, [from, to, slice]);

  /** The row may not be there yet. */
  const focusRow = (wanted: number): void => {
    const link = box.current?.querySelector<HTMLElement>(`[data-row="${wanted}"] a`);
    link?.focus({ preventScroll: true });
    wantsFocus.current = !link;
  };
  useEffect(() => {
    // Not the cursor of this render: a key may have moved it since.
    if (wantsFocus.current) focusRow(rows.cursor);
  });
  const moveTo = (wanted: number): void => {
    rows.cursor = Math.max(0, Math.min(count - 1, wanted));
    renew({});
    const { scrollTop = 0, clientHeight = 0 } = box.current ?? {};
    const [top, room] = [rows.cursor * height, clientHeight - 2 * height];
    if (top < scrollTop + height) scrollTo(top - height);
    else if (top > scrollTop + room) scrollTo(top - room);
    focusRow(rows.cursor);
  };
  const move = (step: number) => (): void => {
    // The first key goes to the current row, if nothing in the list has the focus yet.
    const isInside = wantsFocus.current || box.current?.contains(document.activeElement);
    moveTo(rows.cursor + (isInside ? step : 0));
  };
  useKeys({
    ...{ ArrowDown: move(1), ArrowUp: move(-1) },
    ...{ Home: () => moveTo(0), End: () => moveTo(count - 1) },
  });

  const indexes = Array.from({ length: Math.max(0, to - from) }, (_, by) => from + by);
  const shown = indexes.map((index) => rowOf(props, index, index === cursor));
  const here = indexes.flatMap((index) => slice.rows[index - slice.offset] ?? []);
  const style = isPrinting ? {} : { height: `${count * height}px`, paddingTop: `${from * height}px` };
  const names = { 'aria-label': labelOf(noun), 'aria-rowcount': count + 1 };
  return div(
    { ref: box, class: isTall ? 'list tall' : 'list', onScroll: see },
    table(names, thead('', headOf(props, here)), tbody({ style }, shown)),
    isPrinting && count > PRINTED_ROWS && `The first ${PRINTED_ROWS} of ${count} rows.`,
  );
}

/** Sorts by a column; the other way round if it does already. */
export function sortBy<Row>(rows: Rows, columns: ReadonlyArray<Column<Row>>, name: string): void {
  const { sort, dir } = rows.query;
  const usual = columns.find((each) => each.sort === name)?.dir ?? 'asc';
  const other = dir === 'asc' ? 'desc' : 'asc';
  rows.choose({ sort: name, dir: sort === name ? other : usual });
}

const classOf = ({ title }: { readonly title: string }): string => title.toLowerCase().split(' ', 1)[0] ?? '';

function headOf<Row>({ rows, columns, noun }: ListProps<Row>, here: readonly Row[]): Child {
  const { sort, dir } = rows.query;
  const direction = dir === 'asc' ? 'ascending' : 'descending';
  const heads = columns.map((column) => {
    const { title, sort: own, head = () => title } = column;
    const props = { scope: 'col', class: classOf(column) } as const;
    if (!own) return th(props, head(here));
    const sorter = button(title, () => sortBy(rows, columns, own));
    return th({ ...props, 'aria-sort': own === sort ? direction : 'none' }, sorter);
  });
  return tr(`row ${noun}s`, heads);
}

function rowOf<Row>({ columns, noun, slice, idOf }: ListProps<Row>, at: number, isCurrent: boolean): Child {
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
