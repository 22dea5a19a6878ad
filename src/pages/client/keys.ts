/** Keys: each page names its own, the newest first. Nothing is taken from a field that is typed in, but Esc. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { el } from './el.ts';

const { dd, div, dl, dt, h2, kbd } = el;

type Keys = Readonly<Record<string, () => void>>;

const active: Array<{ current: Keys }> = [];

/** While the component is shown. */
export function useKeys(keys: Keys): void {
  const own = useRef(keys);
  own.current = keys;
  useLayoutEffect(() => {
    active.unshift(own);
    return () => void active.splice(active.indexOf(own), 1);
  }, []);
}

const isA = (target: EventTarget | null, selector: string): target is HTMLElement =>
  target instanceof HTMLElement && target.matches(selector);

addEventListener('keydown', (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (document.querySelector('dialog[open], [popover]:popover-open')) return;
  const isTyped = isA(target, 'input, textarea, select');
  if (isTyped && key !== 'Escape') return;
  if (key === ' ' && isA(target, 'a, button, summary, audio')) return;
  const work = active.find(({ current }) => current[key])?.current[key];
  if (!work) return;
  event.preventDefault();
  if (isTyped) target.blur();
  else work();
});

export const focusOn = (selector: string) => (): void => {
  const found = document.querySelector<HTMLElement>(selector);
  found?.focus();
  if (found instanceof HTMLInputElement) found.select();
};

const help: ReadonlyArray<readonly [string, string]> = [
  ['/', 'filter or search'],
  ['↓ ↑', 'next and previous row'],
  ['Home End', 'first and last row'],
  ['Enter', 'open the row'],
  ['Esc', 'leave the field, then go back'],
  ['Space', 'play or pause the audio'],
  ['?', 'these keys'],
];

const dialog = (): HTMLDialogElement | null => document.querySelector('dialog');

/** An entry of the history, so that Back closes it. */
export function showKeys(): void {
  history.pushState({ dialog: true }, '');
  dialog()?.showModal();
}

addEventListener('popstate', () => dialog()?.close());

const onClose = (): void => {
  if (history.state?.dialog) history.back();
};

export function KeysDialog() {
  const keys = help.map(([key, what]) => div('', dt('', kbd('', key)), dd('', what)));
  const close = el.button({ type: 'button', onClick: () => dialog()?.close() }, 'Close');
  return el.dialog({ 'aria-label': 'Keys', onClose }, h2('', 'Keys'), dl('pairs', keys), close);
}
