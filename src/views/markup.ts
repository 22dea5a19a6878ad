/** Text of any origin in HTML and SVG: whatever is put into a template is escaped, unless it is markup itself. */
import { forTerminal } from '../lib/text.ts';

export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Markup | readonly Markup[];

/** A template whose values are escaped. */
export function html(pieces: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let text = pieces[0] ?? '';
  for (const [at, part] of parts.entries()) text += textOf(part) + (pieces[at + 1] ?? '');
  return new Markup(text);
}

export const none = new Markup('');

function textOf(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (typeof part === 'string' || typeof part === 'number') return escapeText(String(part));
  return part.map(({ text }) => text).join('\n');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that steer or show nothing become visible ones, as on a terminal. */
const escapeText = (text: string): string =>
  forTerminal(text).replace(/[&<>"']/g, (found) => entities[found] ?? '');

/** Characters that take the room of two. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Cut so that it takes at most `units`, each about the room of a small letter; a graph has no line breaks. */
export function cutLabel(text: string, units: number): string {
  let [kept, taken] = ['', 0];
  // Of a megabyte only the beginning can be seen.
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, units * 8))) {
    taken += wide.test(segment) ? 2 : 1;
    if (taken > units) return `${kept}…`;
    kept += segment;
  }
  return kept;
}
