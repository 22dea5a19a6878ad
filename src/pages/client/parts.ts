/** The small parts that all pages are made of. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { findFileState, toneOfState } from '../../catalog/states.ts';
import type { Mark } from '../../flows/search/query.ts';
import type { CallError } from './api.ts';
import { type Child, el, type Tags } from './el.ts';
import { dateText, relative } from './format.ts';
import { useKeys } from './keys.ts';
import { filePath } from './route.ts';
import type { About, FileDocument } from './types.ts';

const { a, b, bdi, code, div, h2, header, i, li, p, section, span, table, tbody, td, th, thead, tr, ul } = el;

export const about = signal<About | undefined>(undefined);

/** `steno --sandbox files`, for copying. */
export const commandLine = (rest: string): string => `${about.value?.command ?? 'steno'} ${rest}`;

/** What has just been done, said once to screen readers too. */
export const said = signal<{ readonly text: string; readonly isBad?: boolean }>({ text: '' });
let forget: ReturnType<typeof setTimeout> | undefined;

export function say(text: string, isBad = false): void {
  said.value = { text, isBad };
  clearTimeout(forget);
  forget = setTimeout(() => say(''), isBad ? 12_000 : 5_000);
}

export const errorText = ({ message, hint }: CallError): string => [message, hint].filter(Boolean).join('; ');

export async function copy(text: string, what = text): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied: ${what.length > 90 ? `${what.slice(0, 90)}…` : what}`);
  } catch {
    say('The browser did not allow copying', true);
  }
}

const paths = {
  copy: 'M6 6V3.5A1.5 1.5 0 0 1 7.5 2h5A1.5 1.5 0 0 1 14 3.5v5a1.5 1.5 0 0 1-1.5 1.5H10M3.5 6h5A1.5 1.5 0 0 1 10 7.5v5A1.5 1.5 0 0 1 8.5 14h-5A1.5 1.5 0 0 1 2 12.5v-5A1.5 1.5 0 0 1 3.5 6z',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
  quote: 'M3 11c2 0 3-1.5 3-4V5H3v3h3M10 11c2 0 3-1.5 3-4V5h-3v3h3',
  down: 'M8 2v8M4.5 7 8 10.5 11.5 7M3 13.5h10',
  back: 'M9.5 3 4.5 8l5 5',
} as const;

export const icon = (name: keyof typeof paths) =>
  el.svg({ class: `icon ${name}`, viewBox: '0 0 16 16', 'aria-hidden': true }, el.path({ d: paths[name] }));

export const button = (content: Child, onClick: (by: HTMLElement) => void, props: Tags['button'] = {}) =>
  el.button({ type: 'button', ...props, onClick: (event) => onClick(event.currentTarget) }, content);

/** Relative, with the exact time on hover and for programs. */
export const timeAt = (at: string | null | undefined, write = relative): Child =>
  at ? el.time({ dateTime: at, title: dateText(at, 'exact') }, write(at)) : null;

/** Text of others, whichever way it is written, and however long. */
export const text = (given: string | null | undefined, max = 400) => bdi('', given?.slice(0, max));

/** A text with the hits of a search marked. */
export const marked = (given: string, marks: readonly Mark[]) =>
  bdi(
    '',
    marks.map(([start, end], at) => [
      given.slice(marks[at - 1]?.[1] ?? 0, start),
      el.mark('', given.slice(start, end)),
    ]),
    given.slice(marks.at(-1)?.[1] ?? 0),
  );

/** A command line that does or shows the same, to copy. */
export const command = (line: string, whole = commandLine(line)) =>
  button([code('', whole), icon('copy')], () => void copy(whole), {
    ...{ class: 'command', title: 'Copy this command line' },
  });

export const failed = (error: CallError | undefined): Child =>
  error && el.p({ class: 'failed', role: 'alert' }, error.message, error.hint && ` (${error.hint})`);

export const empty = (title: string, line?: string, ...more: Child[]) =>
  div('empty', p('', title), more, line && command(line));

export const panel = (title: string, extra: Child, ...children: Child[]) =>
  section({ class: 'panel', 'aria-label': title }, header('', h2('', title), extra), children);

/** A field that filters or searches. */
export const searchField = (
  id: string,
  label: string,
  hint: string,
  value: string,
  onType: (text: string) => void,
) =>
  el.input({
    ...{
      id,
      type: 'search',
      placeholder: hint,
      value,
      spellcheck: false,
      autocomplete: 'off',
      'aria-label': label,
    },
    onInput: (event) => onType(event.currentTarget.value),
  });

export type Choices = ReadonlyArray<readonly [name: string, label: string]>;

export const select = (label: string, value: string, choices: Choices, onPick: (name: string) => void) =>
  el.select(
    { 'aria-label': label, value, onChange: (event) => onPick(event.currentTarget.value) },
    choices.map(([name, shown]) => el.option({ value: name }, shown)),
  );

/** A form of a page that is never sent. */
export const tools = (...children: Child[]) =>
  el.form({ class: 'tools', onSubmit: (event) => event.preventDefault() }, children);

/** Names and values; what is empty is left out. */
export const pairs = (all: ReadonlyArray<readonly [Child, string | null | undefined]>) =>
  el.dl(
    'pairs',
    all.map(([name, value]) => value && div('', el.dt('', name), el.dd('', text(value, 2000)))),
  );

/** A list of facts, a line between each. */
export const facts = <T>(items: readonly T[], show: (item: T) => Child, kind = 'facts') =>
  ul(
    kind,
    items.map((item) => li('', show(item))),
  );

/** The first cell of a row names it. */
export const grid = (label: string, head: readonly string[], rows: ReadonlyArray<readonly Child[]>) =>
  table(
    { 'aria-label': label },
    thead(
      '',
      tr(
        '',
        head.map((name) => th({ scope: 'col' }, name)),
      ),
    ),
    tbody(
      '',
      rows.map(([name, ...cells]) =>
        tr(
          '',
          th({ scope: 'row' }, name),
          cells.map((cell) => td('', cell)),
        ),
      ),
    ),
  );

interface Frame {
  /** Read by screen readers and printed; a page with a lead shows its own. */
  readonly title?: string;
  readonly above: Child;
  readonly error?: CallError | undefined;
  readonly lead?: Child;
  /** Two columns, once there is something to show. */
  readonly columns?: readonly [Child, Child] | undefined;
  readonly kind?: string;
}

export const frame = ({ title, above, error, lead, columns, kind = 'columns' }: Frame, ...more: Child[]) =>
  el.main(
    { tabIndex: -1 },
    title && el.h1('unseen', title),
    above,
    failed(error),
    lead,
    columns &&
      div(
        kind,
        columns.map((column) => div('', column)),
      ),
    more,
  );

/** The way back, and the command line of the page. */
export const crumbs = (to: string, line: string) =>
  p('crumbs', a({ href: `#/${to.toLowerCase()}` }, icon('back'), to), command(line));

/** The title of a file, and the way to its page. */
export const fileLink = (id: string | null, title: string): Child =>
  id ? a({ href: filePath(id) }, text(title, 200)) : text(title, 200);

/** `c` copies the command line of the page. */
export const useCommand = (line: string, keys: Readonly<Record<string, () => void>> = {}): void =>
  useKeys({ ...keys, c: () => void copy(commandLine(line)) });

/** The title of the browser's tab. */
export const useTitle = (title: string): void =>
  useEffect(() => {
    document.title = `${title} · steno`;
  }, [title]);

const steps = ['Ordered', 'Audio', 'Transcription', 'Editing', 'Delivered'];

function stepOf(state: string): number {
  if (findFileState(state)?.end === 'delivered') return 5;
  if (/edit|approval/i.test(state)) return 4;
  if (/transcrib|^processing|difficulty|temporary/i.test(state)) return 3;
  return /audio|pre-processing/i.test(state) ? 2 : 1;
}

/** Where a file stands. */
export function stepsOf({ state: given, hold, late, test }: FileDocument) {
  const state = given ?? 'Ordered';
  const at = stepOf(state);
  const tone = toneOfState(state) ?? (hold ? 'warn' : 'busy');
  const pips = steps.map((_, index) => i(index < at ? 'done' : ''));
  return span(
    `steps ${tone}`,
    span({ class: 'pips', title: `Step ${at} of 5: ${steps[at - 1]}` }, pips),
    span('state', state),
    late && b('late', 'late'),
    test && span('chip', 'test'),
  );
}

/** Something that can be done, with the command line for it if that is copied. */
export type MenuItem = readonly [label: string, run: () => void, detail?: string];

const menu = signal<{ readonly items: readonly MenuItem[]; readonly by: HTMLElement } | undefined>(undefined);

export const openMenu = (by: HTMLElement, items: readonly MenuItem[]): void => {
  menu.value = { items, by };
};

/** The one open menu, over everything else. */
export function Menu() {
  const own = useRef<HTMLDivElement>(null);
  const shown = menu.value;
  useEffect(() => {
    const box = own.current;
    if (!box || !shown) return;
    const { right, bottom, top } = shown.by.getBoundingClientRect();
    box.showPopover();
    const fits = bottom + box.offsetHeight < innerHeight;
    box.style.top = `${fits ? bottom + 4 : Math.max(8, top - box.offsetHeight - 4)}px`;
    box.style.left = `${Math.max(8, Math.min(right, innerWidth - 8) - box.offsetWidth)}px`;
    box.querySelector('button')?.focus();
  }, [shown]);
  const pick = (run: () => void) => (): void => {
    own.current?.hidePopover();
    run();
  };
  const items = shown?.items.map(([label, run, detail]) =>
    button([label, detail && code('', detail)], pick(run)),
  );
  return div({ ref: own, class: 'menu', popover: 'auto', role: 'group', 'aria-label': 'Actions' }, items);
}
