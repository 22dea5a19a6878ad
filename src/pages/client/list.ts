/** A page that is one long list. The server has all rows; the page has a slice of them: those in view, and some around. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Topic, useLoad } from './api.ts';
import { type Child, el } from './el.ts';
import { counted, countText } from './format.ts';
import { focusOn, useKeys } from './keys.ts';
import * as parts from './parts.ts';
import { keep, pathWith, route } from './route.ts';

const { div, h1, main, output, p, table, tbody, td, th, thead, tr } = el;

/** Rows above and below what a window can show, so that a short scroll finds them. */
const AROUND = 24;
const IN_WINDOW = Math.ceil(screen.height / 37);

type Query = Readonly<Record<string, string>>;

/** `sort`: how the server names it. */
export interface Column<Row> {
  /** Its class is the first word of it. */
  readonly title: string;
  readonly cell: (row: Row, tabIndex: number) => Child;
  readonly sort?: string;
  readonly dir?: 'asc' | 'desc';
  /** In place of the title. */
  readonly head?: (inView: () => readonly Row[]) => Child;
}

interface ListKind<Row> {
  readonly path: string;
  readonly topic: Topic;
  /** `file`, `event`. */
  readonly noun: string;
  readonly hint: string;
  /** The query that nothing was chosen for. */
  readonly usual: Query;
  readonly columns: ReadonlyArray<Column<Row>>;
  readonly idOf: (row: Row) => string;
}

/** A list, and how it was left: the first row of its slice, how far it is scrolled, and the current row. */
export const listOf = <Row>(kind: ListKind<Row>) => ({ ...kind, question: '', offset: 0, top: 0, cursor: 0 });
type List<Row> = ReturnType<typeof listOf<Row>>;

/** What the address asks for. */
export function queryOf({ usual }: { readonly usual: Query }): Query {
  const { params } = route.value;
  return Object.fromEntries(Object.entries(usual).map(([name, each]) => [name, params.get(name) ?? each]));
}

export function choose(list: { readonly usual: Query }, change: Query): void {
  const chosen = Object.entries({ ...queryOf(list), ...change });
  keep(Object.fromEntries(chosen.filter(([name, value]) => value !== list.usual[name])));
}

/** Sorts by a column; the other way round if it does already. */
export function sortBy<Row>(list: List<Row>, name: string): void {
  const { sort, dir } = queryOf(list);
  const usual = list.columns.find((each) => each.sort === name)?.dir ?? 'asc';
  const other = dir === 'asc' ? 'desc' : 'asc';
  choose(list, { sort: name, dir: sort === name ? other : usual });
}

/** The path of the slice; another question begins at the top. */
function sliceOf<Row>(list: List<Row>): string {
  const query = queryOf(list);
  const question = JSON.stringify(query);
  if (question !== list.question) Object.assign(list, { question, offset: 0, top: 0, cursor: 0 });
  const { offset } = list;
  return pathWith(list.path, { ...query, offset, limit: IN_WINDOW + AROUND * (offset ? 2 : 1) });
}

interface ListingProps<Row> {
  readonly list: List<Row>;
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

interface Answer<Row> extends Readonly<Record<'total' | 'all', number>> {
  readonly rows: readonly Row[];
}

/** The last answer to what the list asked for, and to what: until the next one comes, its rows stay. */
function useSlice<Row>(list: List<Row>) {
  const last = useRef({ rows: [] as readonly Row[], total: -1, all: 0, question: '', offset: 0 });
  const { data, error } = useLoad<Answer<Row>>(sliceOf(list), [list.topic]);
  const { question, offset } = list;
  if (data && data.rows !== last.current.rows) last.current = { ...data, question, offset };
  return { slice: last.current, error };
}

/** How high a row is, which the styles say, and which are in view. */
function viewOf(box: HTMLElement) {
  const height = Number.parseFloat(getComputedStyle(box).getPropertyValue('--row'));
  const [top, end] = [box.scrollTop, box.scrollTop + box.clientHeight];
  return { height, first: Math.floor(top / height), past: Math.ceil(end / height) };
}

export function Listing<Row>({ list, isTall, ...props }: ListingProps<Row>) {
  const { noun, columns } = list;
  const own = useRef<HTMLDivElement>(null);
  const wantsFocus = useRef(false);
  const [, renew] = useState({});
  const { slice, error } = useSlice(list);
  const { total, all, rows, offset } = slice;
  const { q: given = '', sort, dir } = queryOf(list);
  const setQuery = (q: string): void => choose(list, { q });
  const field = parts.useSearchField('filter', `Filter ${noun}s`, given, setQuery, list.hint);
  const label = parts.named(`${noun}s`);
  parts.useTitle(label);
  const cursor = Math.min(list.cursor, total - 1);

  const see = (): void => {
    const { current: box } = own;
    // On paper nothing scrolls.
    if (!box || box.scrollHeight === box.clientHeight) return;
    list.top = box.scrollTop;
    const { first, past } = viewOf(box);
    if (first >= offset && Math.min(total, past) <= offset + rows.length) return;
    list.offset = Math.max(0, first - AROUND);
    renew({});
  };
  const before = useRef<typeof slice | undefined>(undefined);
  useLayoutEffect(() => {
    const { question, total: known = 0 } = before.current ?? {};
    const { current: box } = own;
    before.current = slice;
    if (!box) return;
    if (question !== slice.question) box.scrollTop = list.top;
    // New rows come at the top, unless it is sorted otherwise: what is in view stays in view.
    else if (sort === list.usual.sort && dir === list.usual.dir && total > known && list.top > 0)
      box.scrollTop = list.top + (total - known) * viewOf(box).height;
    see();
  }, [slice]);

  /** The row may not be there yet. */
  const focusRow = (): void => {
    const link = own.current?.querySelector<HTMLElement>(`[data-row="${list.cursor}"] a`);
    link?.focus({ preventScroll: true });
    wantsFocus.current = !link;
  };
  useEffect(() => {
    if (wantsFocus.current) focusRow();
  });
  const moveTo = (wanted: number): void => {
    const { current: box } = own;
    if (!box) return;
    list.cursor = Math.max(0, Math.min(total - 1, wanted));
    renew({});
    const { height } = viewOf(box);
    const [top, room] = [list.cursor * height, box.clientHeight - 2 * height];
    if (top < box.scrollTop + height) box.scrollTop = top - height;
    else if (top > box.scrollTop + room) box.scrollTop = top - room;
    focusRow();
  };
  const move = (step: number) => (): void => {
    // The first key goes to the current row, if nothing in the list has the focus yet.
    const isInside = wantsFocus.current || own.current?.contains(document.activeElement);
    moveTo(list.cursor + (isInside ? step : 0));
  };
  useKeys({
    ...{ '/': focusOn('#filter'), ArrowDown: move(1), ArrowUp: move(-1) },
    ...{ Home: () => moveTo(0), End: () => moveTo(total - 1) },
  });

  const inView = (): readonly Row[] => {
    const { first = 0, past = 0 } = own.current ? viewOf(own.current) : {};
    return rows.slice(Math.max(0, first - offset), past - offset);
  };
  const rowOf = (row: Row, by: number) => {
    const at = offset + by;
    const isCurrent = at === cursor;
    // Only the controls of the current row are in the order of Tab.
    const cells = columns.map((each) => td(classOf(each), each.cell(row, isCurrent ? 0 : -1)));
    const kind = isCurrent ? `row ${noun}s current` : `row ${noun}s`;
    return tr({ key: list.idOf(row), class: kind, 'data-row': at, 'aria-rowindex': at + 2 }, cells);
  };
  const rowsOfSlice = () => {
    const body = { style: `--rows: ${total}; --before: ${offset}` };
    const names = { 'aria-label': label, 'aria-rowcount': total + 1 };
    return div(
      { ref: own, class: isTall ? 'list tall' : 'list', onScroll: see },
      table(names, thead('', headOf(list, inView)), tbody(body, rows.map(rowOf))),
      rows.length < total && p('only-printed', `Rows ${offset + 1} to ${offset + rows.length} of ${total}.`),
    );
  };
  const content = (): Child => {
    const count = total === all ? counted(all, noun) : `${countText(total)} of ${countText(all)}`;
    const showAll = parts.button(`Show all ${noun}s`, () => choose(list, list.usual));
    return [
      parts.tools(field, props.extra, output('count muted', total >= 0 && count), parts.command(props.line)),
      parts.failed(error),
      total < 0 && !error && p('muted', 'Loading…'),
      total === 0 && !all && parts.empty(...props.none),
      total === 0 && all > 0 && parts.empty(`None of ${counted(all, noun)} matches.`, undefined, showAll),
      total > 0 && rowsOfSlice(),
    ];
  };
  return main({ class: 'wide', tabIndex: -1 }, h1('unseen', label), props.lead, props.instead ?? content());
}

const classOf = ({ title }: { readonly title: string }): string => title.toLowerCase().split(' ', 1)[0] ?? '';

function headOf<Row>(list: List<Row>, inView: () => readonly Row[]): Child {
  const { sort, dir } = queryOf(list);
  const direction = dir === 'asc' ? 'ascending' : 'descending';
  const heads = list.columns.map((column) => {
    const { title, sort: own, head = () => title } = column;
    const props = { scope: 'col', class: classOf(column) } as const;
    if (!own) return th(props, head(inView));
    const sorter = parts.button(title, () => sortBy(list, own));
    return th({ ...props, 'aria-sort': own === sort ? direction : 'none' }, sorter);
  });
  return tr(`row ${list.noun}s`, heads);
}
