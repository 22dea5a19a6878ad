/** `steno search`: words in all transcripts on this disk. */
import { useEffect, useState } from 'preact/hooks';
import { useLoad } from './api.ts';
import { clock, plural, searchWords, shellWord } from './format.ts';
import { focusOn, useKeys } from './keys.ts';
import { Command, commandLine, copy, Empty, Failed, FileLink, Marked, SearchField, Text } from './parts.tsx';
import { filePath, keep, pathWith, route } from './route.ts';
import type { Hit } from './types.ts';

const LIMIT = 200;
const TYPING_PAUSE_MS = 250;

function Found({ hit, query, words }: { hit: Hit; query: string; words: readonly string[] }) {
  const at = typeof hit.start === 'number' ? String(hit.start) : undefined;
  const text = <Marked text={hit.text} words={words} />;
  return (
    <li>
      <span class="at">{at ? clock(Number(at)) : `line ${hit.line}`}</span>
      <p>
        {hit.speaker ? (
          <b>
            <Text>{hit.speaker}</Text>{' '}
          </b>
        ) : null}
        {hit.audiofile ? (
          <a href={filePath(hit.audiofile, { t: at, line: String(hit.line), q: query })}>{text}</a>
        ) : (
          text
        )}
      </p>
    </li>
  );
}

/** Hits in the order of the answer, those of one file together. */
const byFile = (hits: readonly Hit[]): Array<readonly [string, readonly Hit[]]> => {
  const groups = new Map<string, Hit[]>();
  for (const hit of hits) groups.set(hit.path, [...(groups.get(hit.path) ?? []), hit]);
  return [...groups];
};

export function Search() {
  const [typed, setTyped] = useState(route.value.params.get('q') ?? '');
  const [query, setQuery] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => {
      setQuery(typed.trim());
      keep({ q: typed.trim() });
    }, TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const { data: hits, error } = useLoad<readonly Hit[]>(
    query ? pathWith('/api/search', { q: query, limit: LIMIT }) : '',
  );
  const words = searchWords(query);
  const line = `search ${shellWord(query || 'words')}`;
  useEffect(() => focusOn('#words'), []);
  const step = (by: number) => (): void => {
    const all = [...document.querySelectorAll<HTMLElement>('.hits a')];
    all[Math.max(0, all.indexOf(document.activeElement as HTMLElement) + by)]?.focus();
  };
  useKeys({ '/': () => focusOn('#words'), j: step(1), k: step(-1), c: () => void copy(commandLine(line)) });
  return (
    <main tabIndex={-1}>
      <h1 class="unseen">Search</h1>
      <form class="tools" onSubmit={(event) => event.preventDefault()}>
        <SearchField
          {...{ id: 'words', label: 'Search in transcripts', value: typed, onType: setTyped }}
          hint={'Words in transcripts: budget "next year" -draft plan*'}
        />
        <output class="count muted">
          {hits ? `${hits.length === LIMIT ? 'the first ' : ''}${plural(hits.length, 'hit')}` : ''}
        </output>
        <Command line={line} />
      </form>
      <Failed error={error} />
      {query ? null : <Empty title="Finds words in every transcript that was downloaded to this disk." />}
      {hits?.length === 0 ? (
        <Empty title="No transcript on this disk has these words." line="sync --download . --missing" />
      ) : null}
      {byFile(hits ?? []).map(([path, own]) => (
        <section key={path} class="panel hits">
          <header>
            <h2>
              <FileLink id={own[0]?.audiofile ?? null} title={own[0]?.title || path} />
            </h2>
            <span class="muted">{plural(own.length, 'hit')}</span>
          </header>
          <ol>
            {own.map((hit, at) => (
              <Found key={at} {...{ hit, query, words }} />
            ))}
          </ol>
        </section>
      ))}
    </main>
  );
}
