/** `steno search`: words in all transcripts on this disk. */
import { useEffect } from 'preact/hooks';
import { partsOfLine } from '../../flows/search/query.ts';
import { shellWord } from '../../lib/text.ts';
import { useLoad } from './api.ts';
import { type Child, el } from './el.ts';
import { clock, counted, markerOf } from './format.ts';
import { focusOn, useKeys } from './keys.ts';
import * as parts from './parts.ts';
import { filePath, keep, pathWith, route } from './route.ts';
import type { Hit } from './types.ts';

const { a, b, div, h1, h2, header, li, ol, output, p, section, span } = el;

const LIMIT = 200;

function hitOf({ audiofile, start, line, speaker, text, before, after }: Hit, query: string): Child {
  const hit = parts.marked(text, markerOf(query)(text));
  const href = audiofile && filePath(audiofile, { t: start ?? undefined, line, q: query });
  const around = (texts: readonly string[] | undefined): Child => p('muted', parts.text(texts?.join(' ')));
  const said = p('', speaker && b('', parts.text(speaker), ' '), href ? a({ href }, hit) : hit);
  const time = span('at', start === null ? `line ${line}` : clock(start));
  return li('', time, div('', around(before), said, around(after)));
}

/** Hits in the order of the answer, those of one file together. */
function filesOf(hits: readonly Hit[], query: string): Child {
  const paths = [...new Set(hits.map(({ path }) => path))];
  return paths.map((path) => {
    const own = hits.filter((each) => each.path === path);
    const { audiofile = null, title } = own[0] ?? {};
    const name = h2('', parts.fileLink(audiofile, title || path));
    const items = own.map((each) => hitOf(each, query));
    return section('panel hits', header('', name, span('muted', counted(own.length, 'hit'))), ol('', items));
  });
}

export function Search() {
  const query = route.value.params.get('q') ?? '';
  const path = pathWith('/api/search', { q: query, limit: LIMIT });
  const found = useLoad<readonly Hit[]>(query && path);
  const hint = 'Words in transcripts: budget "next year" -draft plan*';
  const field = parts.useSearchField('words', 'Search in transcripts', query, (q) => keep({ q }), hint);
  const words = partsOfLine(query || 'words');
  // After `--`, a word to leave out is never a flag.
  const all = words.some((word) => word.startsWith('-')) ? ['--', ...words] : words;
  useEffect(focusOn('#words'), []);
  const step = (by: number) => (): void => {
    const all = [...document.querySelectorAll<HTMLElement>('.hits a')];
    all[Math.max(0, all.indexOf(document.activeElement as HTMLElement) + by)]?.focus();
  };
  useKeys({ '/': focusOn('#words'), ArrowDown: step(1), ArrowUp: step(-1) });

  const { length = 0 } = found.data ?? [];
  const count = found.data && `${length === LIMIT ? 'the first ' : ''}${counted(length, 'hit')}`;
  const line = parts.command(['search', ...all].map(shellWord).join(' '));
  const above = [h1('unseen', 'Search'), parts.tools(field, output('count muted', count), line)];
  const none = query
    ? parts.empty('No matches in your downloaded transcripts.', 'sync --download . --missing')
    : parts.empty('Finds words in every transcript that was downloaded to this disk.');
  const show = (hits: readonly Hit[]): readonly Child[] => [hits.length ? filesOf(hits, query) : none];
  return parts.usePage('Search', above, query ? found : { data: [] }, show, 'Searching…');
}
