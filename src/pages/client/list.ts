/** A page that is one long list: its filter, and a table of which only the rows in view exist. */
import { type Signal, signal } from '@preact/signals';
import { h } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Child, el } from './el.ts';
import { counted, countText } from './format.ts';
import { focusOn, useKeys } from './keys.ts';
import { button, command, empty, failed, searchField, tools } from './parts.ts';
import { route } from './route.ts';
import type { Rows } from './rows.ts';

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
/** What is printed of a long list. */
const PRINTED_ROWS = 500;

/** Its title, what a cell of it shows, and how the server sorts by it: by which name, and which way at first. */
export type Column<Row> = readonly [
  title: string,
  cell: (row: Row, tabIndex: number) => Child,
  sort?: string,
  dir?: 'asc' | 'desc',
];

/** The class of a column is the first word of its title. */
const nameOf = (title: string): string => title.toLowerCase().split(' ', 1)[0] ?? '';

interface ListingProps<Row> {
  readonly rows: Rows<Row>;
  /** `file`, `event`. */
  readonly noun: string;
  readonly hint: string;
  readonly columns: ReadonlyArray<Column<Row>>;
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

export function Listing<Row>(props: ListingProps<Row>) {
  const { rows, noun, hint, columns, extra, line, none, lead, instead, isTall = false } = props;
  const { total, all } = rows.found.value ?? { total: -1, all: 0 };
  const title = `${noun[0]?.toUpperCase()}${noun.slice(1)}s`;
  const count = total === all ? counted(all, noun) : `${countText(total)} of ${countText(all)}`;
  const showAll = button(`Show all ${noun}s`, () => rows.choose(rows.kind.usual));
  const filter = (q: string): void => rows.choose({ q }, TYPING_PAUSE_MS);
  // Asked for before the empty list is painted.
  useLayoutEffect(() => rows.follow(), [route.value]);
  useLayoutEffect(() => rows.open(), []);
  useKeys({ '/': focusOn('#filter') });
  return main(
    { class: 'wide', tabIndex: -1 },
    h1('unseen', title),
    lead,
    !instead &&
      tools(
        searchField('filter', `Filter ${noun}s`, rows.query.value.q ?? '', filter, hint),
        extra,
        output('count muted', total < 0 ? '' : count),
        command(line),
      ),
    failed(rows.failure.value),
    instead,
    !instead && total < 0 && !rows.failure.value && p('muted', 'Loading…'),
    !instead && total === 0 && all === 0 && empty(...none),
    !instead && total === 0 && all > 0 && empty(`None of ${counted(all, noun)} matches.`, undefined, showAll),
    !instead && total !== 0 && h(List<Row>, { rows, columns, label: title, isTall }),
  );
}

type ListProps<Row> = Pick<ListingProps<Row>, 'rows' | 'columns' | 'isTall'> & { readonly label: string };

function List<Row>({ rows, columns, label, isTall }: ListProps<Row>) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: rows.top, height: innerHeight });
  const [spare, setSpare] = useState(0);
  const wantsFocus = useRef(false);
  const { found } = rows;
  const count = found.value?.total ?? 0;
  const isPrinting = isPrinted.value;
  const [high, low] = isNarrow.value ? [122, 62] : [62, 37];
  const height = isTall ? high : low;
  const cursor = Math.min(rows.cursor.value, Math.max(0, count - 1));
  const end = Math.ceil((view.top + view.height) / height) + spare;
  const from = isPrinting ? 0 : Math.max(0, Math.floor(view.top / height) - spare);
  const to = Math.min(count, isPrinting ? PRINTED_ROWS : end);

  const see = (): void => {
    const { scrollTop: top = 0, clientHeight = innerHeight } = box.current ?? {};
    rows.top = top;
    // A few rows more than are in view cost less than another look.
    setView((old) => (old.top === top && old.height >= clientHeight ? old : { top, height: clientHeight }));
  };
  useLayoutEffect(() => {
    // To look would cost a layout of its own.
    if (!found.value) return;
    const { added } = found.value;
    if (box.current && added && box.current.scrollTop > 0) box.current.scrollTop += added * height;
    see();
  }, [found.value]);
  useLayoutEffect(() => {
    // Back to where the list was left: `rows.top` is overwritten by now.
    if (box.current && view.top) {
      box.current.scrollTop = view.top;
      see();
    }
    const watch = new ResizeObserver(see);
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  useEffect(() => setSpare(SPARE), []);
  useEffect(() => rows.see(from, Math.max(0, to - 1)), [from, to]);

  /** The row may not be there yet. */
  const focusRow = (at: number): void => {
    const link = box.current?.querySelector<HTMLElement>(`[data-row="${at}"] a`);
    link?.focus({ preventScroll: true });
    wantsFocus.current = !link;
  };
  useEffect(() => {
    // Not the cursor of this render: a key may have moved it since.
    if (wantsFocus.current) focusRow(rows.cursor.peek());
  });
  const moveTo = (wanted: number): void => {
    const at = Math.max(0, Math.min(count - 1, wanted));
    rows.cursor.value = at;
    const { current } = box;
    if (!current) return;
    const [top, room] = [at * height, current.clientHeight - 2 * height];
    if (top < current.scrollTop + height) current.scrollTop = top - height;
    else if (top > current.scrollTop + room) current.scrollTop = top - room;
    see();
    focusRow(at);
  };
  const move = (step: number) => (): void => {
    // The first key goes to the current row, if nothing in the list has the focus yet.
    const isInside = wantsFocus.current || box.current?.contains(document.activeElement);
    moveTo(rows.cursor.peek() + (isInside ? step : 0));
  };
  useKeys({
    ...{ j: move(1), k: move(-1), ArrowDown: move(1), ArrowUp: move(-1) },
    ...{ Home: () => moveTo(0), End: () => moveTo(count - 1) },
  });

  const shown = Array.from({ length: Math.max(0, to - from) }, (_, by) =>
    rowOf({ rows, columns, label }, from + by, from + by === cursor),
  );
  const style = isPrinting ? {} : { height: `${count * height}px`, paddingTop: `${from * height}px` };
  return div(
    { ref: box, class: isTall ? 'list tall' : 'list', onScroll: see },
    table(
      { 'aria-label': label, 'aria-rowcount': count + 1 },
      thead('', headOf({ rows, columns, label })),
      tbody({ style }, shown),
    ),
    isPrinting && count > PRINTED_ROWS && `The first ${PRINTED_ROWS} of ${count} rows.`,
  );
}

/** Sorts by a column; the other way round if it does already. */
export function sortBy<Row>(rows: Rows<Row>, columns: ReadonlyArray<Column<Row>>, name: string): void {
  const { sort, dir } = rows.query.value;
  const usual = columns.find((each) => each[2] === name)?.[3] ?? 'asc';
  const other = dir === 'asc' ? 'desc' : 'asc';
  rows.choose({ sort: name, dir: sort === name ? other : usual });
}

function headOf<Row>({ rows, columns, label }: ListProps<Row>): Child {
  const { sort, dir } = rows.query.value;
  const direction = dir === 'asc' ? 'ascending' : 'descending';
  const heads = columns.map(([title, , own]) => {
    const props = { scope: 'col', class: nameOf(title) } as const;
    if (!own) return th(props, title === 'Select' ? headBox(rows) : title);
    const sorter = button(title, () => sortBy(rows, columns, own));
    return th({ ...props, 'aria-sort': own === sort ? direction : 'none' }, sorter);
  });
  return tr(`row ${label.toLowerCase()}`, heads);
}

/** Chooses the rows that are here, or none. */
function headBox<Row>(rows: Rows<Row>): Child {
  const onChange = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void => {
    rows.chosen.value = new Set(currentTarget.checked ? rows.loaded.map(rows.kind.idOf) : []);
  };
  const label = 'Select the rows in view';
  return el.input({ type: 'checkbox', 'aria-label': label, checked: rows.chosen.value.size > 0, onChange });
}

function rowOf<Row>({ rows, columns, label }: ListProps<Row>, at: number, isCurrent: boolean): Child {
  const place = { 'aria-rowindex': at + 2 };
  const row = rows.at(at);
  const kind = `row ${label.toLowerCase()}`;
  if (row === undefined)
    return tr({ ...place, key: `at ${at}`, class: `${kind} waiting` }, td('', span('unseen', 'Loading')));
  const classes = [kind, isCurrent && 'current', rows.hasChanged(row) && 'changed'].filter(Boolean).join(' ');
  // Only the controls of the current row are in the order of Tab.
  const cells = columns.map(([title, cell]) => td(nameOf(title), cell(row, isCurrent ? 0 : -1)));
  return tr({ ...place, key: rows.kind.idOf(row), class: classes, 'data-row': at }, cells);
}
