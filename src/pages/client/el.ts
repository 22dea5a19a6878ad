/** Elements as functions: `p('muted', 'text')` is `<p class="muted">text</p>`. A text is never markup. */
import { type ComponentChildren, h, type JSX, type VNode } from 'preact';
import { forTerminalLines } from '../../lib/text.ts';

export type Child = ComponentChildren;
export type Tags = JSX.IntrinsicElements;
type Data = Readonly<Record<`data-${string}`, string | number>>;
type Elements = {
  readonly [Tag in keyof Tags]: (props: string | (Tags[Tag] & Data), ...children: Child[]) => VNode;
};

/** Shows hidden characters and those that reverse text, as on a terminal. */
function visible(child: Child): Child {
  if (Array.isArray(child)) return child.map(visible);
  return typeof child === 'string' ? forTerminalLines(child) : child;
}

export const el = new Proxy({} as Elements, {
  get:
    (_, tag: string) =>
    (props: string | object, ...children: Child[]) =>
      h(tag, typeof props === 'string' ? { class: props || undefined } : props, ...children.map(visible)),
});

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** For a field that tells what it says. */
export const onText =
  (set: (text: string) => void) =>
  ({ currentTarget }: { readonly currentTarget: Field }): void =>
    set(currentTarget.value);
