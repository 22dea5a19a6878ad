/** A list of any length: only the rows in view exist. */
import { type Signal, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useKeys } from './keys.ts';

/** Where a list was left; kept while other pages are shown. */
export interface Place {
  readonly cursor: Signal<number>;
  top: number;
}

export const newPlace = (): Place => ({ cursor: signal(0), top: 0 });

const narrow = matchMedia('(max-width: 760px)');
const isNarrow = signal(narrow.matches);
narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});

/** Rows beyond the view, so that a quick scroll finds them there. */
const SPARE = 8;
/** What is printed of a long list. */
const PRINTED_ROWS = 500;

interface ListProps {
  readonly label: string;
  readonly count: number;
  readonly place: Place;
  readonly head?: ComponentChildren;
  /** A row is given its number; it makes itself a row of a table, with its cells. */
  readonly row: (at: number, isCurrent: boolean) => ComponentChildren;
  /** A row that `j` and `k` pass over. */
  readonly isHeading?: (at: number) => boolean;
  readonly onRange?: (from: number, to: number) => void;
  /** Rows that came at the top since the last time: what is in view stays in view. */
  readonly added?: number;
}

export function List({ label, count, place, head, row, isHeading, onRange, added = 0 }: ListProps) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: place.top, height: 900 });
  const [isPrinting, setPrinting] = useState(false);
  const wantsFocus = useRef(false);
  const height = isNarrow.value ? 62 : 37;
  const cursor = Math.min(place.cursor.value, Math.max(0, count - 1));
  const from = isPrinting ? 0 : Math.max(0, Math.floor(view.top / height) - SPARE);
  const to = Math.min(
    count,
    isPrinting ? PRINTED_ROWS : Math.ceil((view.top + view.height) / height) + SPARE,
  );

  const see = (): void => {
    const { scrollTop = 0, clientHeight = 900 } = box.current ?? {};
    place.top = scrollTop;
    setView((old) =>
      old.top === scrollTop && old.height === clientHeight ? old : { top: scrollTop, height: clientHeight },
    );
  };

  useLayoutEffect(() => {
    if (box.current && added && box.current.scrollTop > 0) box.current.scrollTop += added * height;
    see();
  }, [added, count]);

  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = place.top;
    see();
    const watch = new ResizeObserver(see);
    if (box.current) watch.observe(box.current);
    const print = (event: Event): void => setPrinting(event.type === 'beforeprint');
    addEventListener('beforeprint', print);
    addEventListener('afterprint', print);
    return () => {
      watch.disconnect();
      removeEventListener('beforeprint', print);
      removeEventListener('afterprint', print);
    };
  }, [place]);

  useEffect(() => onRange?.(from, to), [from, to, onRange]);

  /** The row may not be there yet. */
  const focusRow = (at: number): void => {
    const found = box.current?.querySelector<HTMLElement>(`[data-row="${at}"] a`);
    found?.focus({ preventScroll: true });
    wantsFocus.current = !found;
  };
  useEffect(() => {
    if (wantsFocus.current) focusRow(cursor);
  });

  const moveTo = (wanted: number, step: number): void => {
    const clamp = (at: number): number => Math.max(0, Math.min(count - 1, at));
    let at = clamp(wanted);
    while (isHeading?.(at) && clamp(at + step) !== at) at = clamp(at + step);
    if (isHeading?.(at)) at = cursor;
    place.cursor.value = at;
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
    moveTo(place.cursor.peek() + (isInside ? step : 0), Math.sign(step));
  };
  const page = Math.max(1, Math.floor(view.height / height) - 2);
  useKeys({
    ...{ j: move(1), k: move(-1), ArrowDown: move(1), ArrowUp: move(-1) },
    ...{
      PageDown: move(page),
      PageUp: move(-page),
      Home: () => moveTo(0, 1),
      End: () => moveTo(count - 1, -1),
    },
    '.': () => box.current?.querySelector<HTMLElement>(`[data-row="${cursor}"] button.more`)?.click(),
  });

  const rows = Array.from({ length: Math.max(0, to - from) }, (_, at) =>
    row(from + at, from + at === cursor),
  );
  return (
    <div ref={box} class="list" onScroll={see}>
      <table aria-label={label} aria-rowcount={count + 1}>
        <thead>{head}</thead>
        <tbody style={isPrinting ? {} : { height: `${count * height}px`, paddingTop: `${from * height}px` }}>
          {rows}
        </tbody>
      </table>
      {isPrinting && count > PRINTED_ROWS ? `The first ${PRINTED_ROWS} of ${count} rows.` : null}
    </div>
  );
}

/** In a row, its controls are in the order of Tab only if the row is the current one. */
export const tabIndexOf = (isCurrent: boolean): number => (isCurrent ? 0 : -1);
