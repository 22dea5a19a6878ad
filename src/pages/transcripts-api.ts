/** What transcripts on this disk say: their text, what must be looked at, and where words are. */
import type { Handler, PageSource } from './source.ts';

export function transcriptHandlers(_source: PageSource): Readonly<Record<string, Handler>> {
  return {};
}
