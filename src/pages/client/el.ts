/** Elements as functions: `p('muted', 'text')` is `<p class="muted">text</p>`. A text is never markup. */
import { type ComponentChildren, h, type JSX, type VNode } from 'preact';

export type Child = ComponentChildren;
export type Tags = JSX.IntrinsicElements;
type Data = Readonly<Record<`data-${string}`, string | number>>;
type Elements = {
  readonly [Tag in keyof Tags]: (props: string | (Tags[Tag] & Data), ...children: Child[]) => VNode;
};

export const el = new Proxy({} as Elements, {
  get:
    (_, tag: string) =>
    (props: string | object, ...children: Child[]) =>
      h(tag, typeof props === 'string' ? { class: props || undefined } : props, ...children),
});
