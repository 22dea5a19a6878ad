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
const TYPING_PAUSE_MS = 250;

/** Hits in the order of the answer, those of one file together. */
const byFile = (hits: readonly Hit[]): Array<readonly Hit[]> => {
  const groups = new Map<string, Hit[]>();
  for (const hit of hits) groups.set(hit.path, [...(groups.get(hit.path) ?? []), hit]);
  return [...groups.values()];
};

export function Search() {
  const query = route.value.params.get('q') ?? '';
  const { typed, setTyped } = parts.useTyped(query, TYPING_PAUSE_MS, (q) => keep({ q }));
  const path = pathWith('/api/search', { q: query, limit: LIMIT });
  const { data: hits, error } = useLoad<readonly Hit[]>(query && path);
  const marksIn = markerOf(query);
  const words = partsOfLine(query || 'words');
  // After `--`, a word to leave out is never a flag.
  const all = words.some((word) => word.startsWith('-')) ? ['--', ...words] : words;
  const line = ['search', ...all].map(shellWord).join(' ');
  useEffect(focusOn('#words'), []);
  const step = (by: number) => (): void => {
    const all = [...document.querySelectorAll<HTMLElement>('.hits a')];
    all[Math.max(0, all.indexOf(document.activeElement as HTMLElement) + by)]?.focus();
  };
  useKeys({ '/': focusOn('#words'), ArrowDown: step(1), ArrowUp: step(-1) });

  const hitOf = ({ audiofile, start, line: at, speaker, text, before, after }: Hit): Child => {
    const hit = parts.marked(text, marksIn(text));
    const href = audiofile && filePath(audiofile, { t: start ?? undefined, line: at, q: query });
    const around = (texts: readonly string[] | undefined): Child => p('muted', parts.text(texts?.join(' ')));
    const said = p('', speaker && b('', parts.text(speaker), ' '), href ? a({ href }, hit) : hit);
    const time = span('at', start === null ? `line ${at}` : clock(start));
    return li('', time, div('', around(before), said, around(after)));
  };
  const fileOf = (own: readonly Hit[]): Child => {
    const [{ audiofile = null, title = '', path: name = '' } = {}] = own;
    return section(
      'panel hits',
      header('', h2('', parts.fileLink(audiofile, title || name)), span('muted', counted(own.length, 'hit'))),
      ol('', own.map(hitOf)),
    );
  };
  const hint = 'Words in transcripts: budget "next year" -draft plan*';
  const count = hits && `${hits.length === LIMIT ? 'the first ' : ''}${counted(hits.length, 'hit')}`;
  const above = parts.tools(
    parts.searchField('words', 'Search in transcripts', typed, setTyped, hint),
    output('count muted', count),
    parts.command(line),
  );
  const lead = [
    query && !hits && !error && p('muted', 'Searching…'),
    !query && parts.empty('Finds words in every transcript that was downloaded to this disk.'),
    hits?.length === 0 &&
      parts.empty('No matches in your downloaded transcripts.', 'sync --download . --missing'),
    byFile(hits ?? []).map(fileOf),
  ];
  return parts.frame([h1('unseen', 'Search'), above], error, lead);
}
