/** The small parts that all pages are made of. */
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { findFileState, toneOfState } from '../../catalog/states.ts';
import type { Mark } from '../../flows/search/query.ts';
import { oneLine } from '../../lib/text.ts';
import type { Loaded } from './api.ts';
import { type Child, el, onText, type Tags } from './el.ts';
import { exactTime, relative } from './format.ts';
import { filePath, wayTo } from './route.ts';
import type { About, FileDocument } from './types.ts';

const { a, b, bdi, code, div, h2, header, i, li, p, section, span, table, tbody, td, th, thead, tr, ul } = el;

export const about = signal<About | undefined>(undefined);

/** What has just been done, said once to screen readers too. */
export const said = signal<{ readonly text: string; readonly isBad?: boolean }>({ text: '' });
let forget: ReturnType<typeof setTimeout> | undefined;

export function say(text: string, isBad = false): void {
  said.value = { text, isBad };
  clearTimeout(forget);
  forget = setTimeout(() => say(''), isBad ? 12_000 : 5_000);
}

/** What came of some work, or why it failed. */
export const sayWhen = (done: Promise<string>): Promise<void> =>
  done.then(say, (error: unknown) => say((error as Error).message, true));

export async function copy(text: string, what = text): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied: ${what.length > 90 ? `${what.slice(0, 90)}…` : what}`);
  } catch {
    say('The browser did not allow copying', true);
  }
}

export const button = (content: Child, onClick: () => void, props: Tags['button'] = {}) =>
  el.button({ type: 'button', ...props, onClick }, content);

/** Relative, with the exact time on hover and for programs. */
export const timeAt = (at: string | null | undefined, write = relative): Child =>
  at ? el.time({ dateTime: at, title: exactTime(at) }, write(at)) : null;

/** Untrusted text, in either direction, and however long. */
export const text = (given: string | null | undefined, max = 400) => bdi('', given?.slice(0, max));

/** A text with the hits of a search marked. */
export function marked(given: string, marks: readonly Mark[]) {
  const before = (at: number): number => marks[at - 1]?.[1] ?? 0;
  const hits = marks.map(([start, end], at) => [
    given.slice(before(at), start),
    el.mark('', given.slice(start, end)),
  ]);
  return bdi('', ...hits, given.slice(before(marks.length)));
}

/** A command line that does or shows the same, to copy. */
export function command(line: string, whole = `${about.value?.command ?? 'steno'} ${line}`) {
  // Browsers break a line after any hyphen, and would cut a flag in two.
  const words = whole.split(/(?<= )(-[\w-]+)/).map((part, at) => (at % 2 ? span('flag', part) : part));
  const props = { class: 'command', title: 'Copy this command line' };
  return button(code('', words), () => void copy(whole), props);
}

export const failed = (error: Error | undefined): Child =>
  error && p({ class: 'failed', role: 'alert' }, error.message);

export const empty = (title: string, line?: string, ...more: Child[]) =>
  div('empty', p('', title), more, line && command(line));

export const panel = (title: string, extra: Child, ...children: Child[]) =>
  section({ class: 'panel', 'aria-label': title }, header('', h2('', title), extra), children);

type OnText = (text: string) => void;

const TYPING_PAUSE_MS = 150;

/** A field that filters or searches: `onPause` gets what is typed once typing pauses; what is given may change from elsewhere. */
export function useSearchField(id: string, label: string, given: string, onPause: OnText, hint = label) {
  const [typed, setTyped] = useState(given);
  const told = useRef(given);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (typed.trim() === told.current) return;
      told.current = typed.trim();
      onPause(told.current);
    }, TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => {
    if (given === told.current) return;
    told.current = given;
    setTyped(given);
  }, [given]);
  const props = { id, value: typed, placeholder: hint, spellcheck: false, 'aria-label': label } as const;
  return el.input({ ...props, type: 'search', autocomplete: 'off', onInput: onText(setTyped) });
}

export type Choice = readonly [name: string, label: string];

export function select(label: string, value: string, choices: readonly Choice[], onPick: OnText) {
  const options = choices.map(([name, shown]) => el.option({ value: name }, shown));
  return el.select({ 'aria-label': label, value, onChange: onText(onPick) }, options);
}

/** Takes a value into a choice of several, or out of it. */
export function tick(
  value: string,
  chosen: readonly string[],
  choose: (chosen: readonly string[]) => void,
  props: { readonly 'aria-label'?: string; readonly tabIndex?: number } = {},
) {
  const others = chosen.filter((each) => each !== value);
  const checked = others.length < chosen.length;
  const onChange = (): void => choose(checked ? others : [...others, value]);
  return el.input({ ...props, type: 'checkbox', checked, onChange });
}

/** A form of a page that is never sent. */
export const tools = (...children: Child[]) =>
  el.form({ class: 'tools', onSubmit: (event) => event.preventDefault() }, children);

type Pair = readonly [name: string, value: string | readonly string[] | null | undefined];

/** Names and values; what is empty is left out. */
export function pairs(all: readonly Pair[]) {
  const chips = (values: readonly string[]) => values.map((each) => [span('chip', text(each)), ' ']);
  const shown = all.map(([name, value]) => {
    const content = typeof value === 'string' ? text(value, 2000) : chips(value ?? []);
    return value?.length ? div('', el.dt('', name), el.dd('', content)) : null;
  });
  return el.dl('pairs', shown);
}

/** A list of facts, a line between each. */
export function facts<T>(items: readonly T[], show: (item: T) => Child, none?: Child, kind = 'facts') {
  const all = items.map((item) => li('', show(item)));
  return items.length ? ul(kind, all) : none;
}

/** The first cell of a row names it. */
export function grid(label: string, head: readonly string[], rows: ReadonlyArray<readonly Child[]>) {
  const cellsOf = (cells: readonly Child[]) =>
    cells.map((cell, at) => (at ? td('', cell) : th({ scope: 'row' }, cell)));
  const heads = head.map((name) => th({ scope: 'col' }, name));
  const all = rows.map((row) => tr('', cellsOf(row)));
  return table({ 'aria-label': label }, thead('', tr('', heads)), tbody('', all));
}

/** A page: what stands above, an error, and once there is something to show, a lead and two columns. */
export function usePage<T>(
  title: string,
  above: Child,
  { data, error }: Loaded<T>,
  show: (data: T) => readonly Child[],
  loading = 'Loading…',
) {
  useTitle(title);
  const [lead, ...columns] = data === undefined ? [!error && p('muted', loading)] : show(data);
  const all = columns.map((column) => div('', column));
  return el.main({ tabIndex: -1 }, above, failed(error), lead, div('columns', all));
}

/** The way back, and the command line of the page. */
export const crumbs = (to: 'files' | 'events', line: string) =>
  p('crumbs', a({ href: wayTo(to) }, `‹ ${named(to)}`), command(line));

export const titleOf = ({ title, url, audiofile }: FileDocument): string =>
  title || url || `audiofile ${audiofile}`;

/** The title of a file, and the way to its page. */
export const fileLink = (id: string | null, title: string): Child =>
  id ? a({ href: filePath(id) }, text(title, 200)) : text(title, 200);

/** `files` as a title. */
export const named = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** The title of the browser's tab. */
export const useTitle = (title: string): void =>
  useEffect(() => {
    document.title = `${oneLine(title.slice(0, 80))} · steno`;
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
  const state = !given || given === 'ordered' ? 'Ordered' : given;
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
