/** All files: filter, sort, group. The server has the rows; this page holds the windows of them that were in view. */
import { signal } from '@preact/signals';
import { useCallback, useEffect } from 'preact/hooks';
import { type CallError, get, onChange, oneAtATime, post } from './api.ts';
import { countText, minutesText, money, plural, shellWord } from './format.ts';
import { focusOn, useKeys } from './keys.ts';
import { List, newPlace, tabIndexOf } from './list.tsx';
import {
  about,
  Command,
  commandLine,
  copy,
  copyItem,
  Empty,
  Failed,
  Icon,
  type MenuItem,
  openMenu,
  SearchField,
  Select,
  Steps,
  say,
  sayError,
  Text,
  Time,
} from './parts.tsx';
import { filePath, keep, pathWith, route } from './route.ts';
import type { FileDocument, FileWindow, Group } from './types.ts';

const WINDOW = 100;
const TYPING_PAUSE_MS = 120;

interface Query {
  readonly q: string;
  readonly state: string;
  readonly sort: string;
  readonly dir: 'asc' | 'desc';
  readonly group: string;
}

const newest: Query = { q: '', state: '', sort: 'ordered_at', dir: 'desc', group: '' };
const query = signal<Query>(newest);
const none: readonly Group[] = [];
const place = newPlace();
const found = signal<Omit<FileWindow, 'rows'> | undefined>(undefined);
const failure = signal<CallError | undefined>(undefined);
/** Counts up when rows have come. */
const version = signal(0);
let windows = new Map<number, readonly FileDocument[]>();
/** The states of files when they were last seen, to show which one has changed. */
const states = new Map<string, string | null>();
let changed = new Set<string>();
let wanted: readonly [number, number] = [0, 0];
let abort = new AbortController();
/** Another question was chosen than the one that the rows answer. They stay until its answer comes. */
let isStale = true;

async function load(at: number): Promise<void> {
  const { signal } = abort;
  const path = pathWith('/api/files', { ...query.value, offset: at * WINDOW, limit: WINDOW });
  try {
    const answer = await get<FileWindow>(path, signal);
    if (signal.aborted) return;
    for (const { audiofile, state } of answer.rows) {
      if (states.has(audiofile) && states.get(audiofile) !== state) changed.add(audiofile);
      states.set(audiofile, state);
    }
    if (isStale) windows = new Map();
    isStale = false;
    windows.set(at, answer.rows);
    found.value = { ...answer, groups: wholeGroups(answer) };
    failure.value = undefined;
    version.value += 1;
  } catch (error) {
    if (!signal.aborted) failure.value = error as CallError;
    throw error;
  }
}

/** With a great many groups the server names those of the window alone: then there are no headings. */
const wholeGroups = ({ groups = none, total }: FileWindow): readonly Group[] =>
  groups.reduce((sum, { count }) => sum + count, 0) === total ? groups : none;

const windowsInView = (): number[] => {
  const [from, to] = wanted.map((at) => Math.floor(Math.max(0, at) / WINDOW)) as [number, number];
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
};

const isMissing = (at: number): boolean => !windows.has(at) && at * WINDOW < (found.value?.total ?? 0);

/** One window after the other: what has left the view meanwhile is not asked for. */
const fill = oneAtATime(async () => {
  for (;;) {
    const next = isStale ? undefined : windowsInView().find(isMissing);
    if (next === undefined) return;
    await load(next);
  }
});

/** Reads again what is in view; what is not is read when it comes into view. */
const refresh = oneAtATime(async () => {
  if (isStale) return ask();
  changed = new Set();
  for (const at of windows.keys()) if (!windowsInView().includes(at)) windows.delete(at);
  for (const at of windowsInView()) await load(at);
});

async function ask(): Promise<void> {
  abort.abort();
  abort = new AbortController();
  await load(0);
  place.cursor.value = 0;
  for (const list of document.querySelectorAll('.list')) list.scrollTop = 0;
}

let typing: ReturnType<typeof setTimeout> | undefined;

function choose(change: Partial<Query>, delay = 0): void {
  query.value = { ...query.value, ...change };
  isStale = true;
  keepQuery();
  clearTimeout(typing);
  typing = setTimeout(() => ask().catch(() => {}), delay);
}

function keepQuery(): void {
  const { q, state, sort, dir, group } = query.value;
  const told = (value: string, usual: string): string | undefined => (value === usual ? undefined : value);
  keep({ q, state, group, sort: told(sort, newest.sort), dir: told(dir, newest.dir) });
}

/** Where a group's heading stands is its first row, moved down by one for each heading before. */
function rowAt(groups: readonly Group[], at: number): { group?: Group; row: number } {
  if (!groups.length) return { row: at };
  let [low, high] = [0, groups.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((groups[middle]?.offset ?? 0) + middle <= at) low = middle;
    else high = middle - 1;
  }
  const group = groups[low];
  return group && group.offset + low === at ? { group, row: group.offset } : { row: at - low - 1 };
}

const fileAt = (row: number): FileDocument | undefined =>
  windows.get(Math.floor(row / WINDOW))?.[row % WINDOW];

export async function download(id: string, format: string, folder?: string): Promise<void> {
  say(`Downloading ${format}…`);
  try {
    const saved = await post<{ path: string; skipped?: boolean }>(
      `/api/file/${encodeURIComponent(id)}/download`,
      {
        ...{ format, ...(folder && { folder }) },
      },
    );
    say(`${saved.skipped ? 'Was there already' : 'Saved'}: ${saved.path}`);
  } catch (error) {
    sayError(error as CallError);
  }
}

export function fileMenu({ audiofile, ended }: FileDocument): MenuItem[] {
  const id = shellWord(audiofile);
  const downloads = (about.value?.formats ?? []).map((format) => ({
    label: `Download ${format}`,
    run: () => void download(audiofile, format),
  }));
  return [
    ...[`file ${id}`, ended ? `transcript ${id} --format txt` : `wait ${id}`].map(copyItem),
    ...(ended === 'delivered' ? downloads : []),
  ].map((item, at) =>
    at < 2 ? { ...item, label: at ? 'Copy the next step' : 'Copy the command line' } : item,
  );
}

const columns: ReadonlyArray<readonly [sort: string, label: string]> = [
  ['state', 'State'],
  ['title', 'Title'],
  ['minutes', 'Length'],
  ['total', 'Cost'],
  ['', 'Order'],
  ['ordered_at', 'Ordered'],
  ['audiofile', 'File'],
];

const ascending = new Set(['title', 'state', 'audiofile']);

function sortBy(sort: string): void {
  const usual = ascending.has(sort) ? 'asc' : 'desc';
  const other = query.value.dir === 'asc' ? 'desc' : 'asc';
  choose({ sort, dir: query.value.sort === sort ? other : usual });
}

function Head() {
  const { sort, dir } = query.value;
  const direction = dir === 'asc' ? 'ascending' : 'descending';
  return (
    <tr class="row files">
      {columns.map(([name, label]) => (
        <th
          key={label}
          scope="col"
          class={label.toLowerCase()}
          aria-sort={name === sort ? direction : 'none'}
        >
          {name ? (
            <button type="button" onClick={() => sortBy(name)}>
              {label}
            </button>
          ) : (
            label
          )}
        </th>
      ))}
      <th scope="col" class="actions">
        <span class="unseen">Actions</span>
      </th>
    </tr>
  );
}

function Row({ at, file, isCurrent }: { at: number; file: FileDocument | undefined; isCurrent: boolean }) {
  if (!file)
    return (
      <tr class="row files waiting" aria-rowindex={at + 2}>
        <td>
          <span class="unseen">Loading</span>
        </td>
      </tr>
    );
  const classes = ['row files', isCurrent && 'current', changed.has(file.audiofile) && 'changed'];
  const title = file.title || file.url || `audiofile ${file.audiofile}`;
  return (
    <tr class={classes.filter(Boolean).join(' ')} aria-rowindex={at + 2} data-row={at}>
      <td class="state">
        <Steps file={file} />
      </td>
      <td class="title">
        <a href={filePath(file.audiofile)} tabIndex={tabIndexOf(isCurrent)} title={title.slice(0, 300)}>
          <Text>{title.slice(0, 400)}</Text>
        </a>{' '}
        {file.feed ? <span class="feed muted">{file.feed.slice(0, 100)} </span> : null}
        {file.tags.slice(0, 2).map((tag) => (
          <span key={tag} class="chip">
            {tag.slice(0, 40)}
          </span>
        ))}
      </td>
      <td class="length">{minutesText(file.minutes)}</td>
      <td class="cost">{money(file.total)}</td>
      <td class="order">{file.order}</td>
      <td class="ordered">
        <Time at={file.ordered_at} />
      </td>
      <td class="file">{file.audiofile}</td>
      <td class="actions">
        <button
          type="button"
          class="plain more"
          tabIndex={tabIndexOf(isCurrent)}
          aria-haspopup="menu"
          aria-label={`Actions for file ${file.audiofile}`}
          onClick={(event) => openMenu(event.currentTarget, fileMenu(file))}
        >
          <Icon name="more" />
        </button>
      </td>
    </tr>
  );
}

const stateNames = [
  ...['Order Processing', 'Billing Processing', 'On Hold', 'Audio Processing', 'Checking Audio Quality'],
  ...[
    'Pre-Processing',
    'Processing',
    'Transcribing',
    'Awaiting Edit',
    'Out for edit',
    'Awaiting Final Approval',
  ],
  ...['Technical Difficulty', 'Temporary Error', 'Delivered', 'Error', 'Order Cancelled', 'Refunded'],
];
const stateChoices = [
  { name: '', label: 'All states' },
  ...stateNames.map((name) => ({ name, label: name })),
];
const groupChoices = ['', 'order', 'feed', 'tag'].map((name) => ({
  name,
  label: name ? `By ${name}` : 'No groups',
}));
const sortChoices = columns
  .filter(([name]) => name)
  .map(([name, label]) => ({ name, label: `Sort: ${label}` }));

function NoFiles({ all }: { all: number }) {
  if (!all)
    return (
      <Empty
        title="No files yet. Order one, and it appears here."
        line="order https://example.com/talk.mp3 --sku TRANS14"
      />
    );
  return (
    <Empty title={`None of ${plural(all, 'file')} matches.`}>
      <button type="button" onClick={() => choose({ q: '', state: '' })}>
        Show all files
      </button>
    </Empty>
  );
}

const countOf = (total: number, all: number): string =>
  total === all ? plural(all, 'file') : `${countText(total)} of ${countText(all)}`;

export function Files() {
  const { q, state, group, sort } = query.value;
  const { total = 0, all = 0, groups = none } = found.value ?? {};
  void version.value;
  const line = state ? `files --state ${shellWord(state)}` : 'files';
  useEffect(() => {
    const given = Object.fromEntries(route.peek().params);
    if (Object.keys(given).length || isStale) choose({ ...newest, ...given });
    else {
      keepQuery();
      refresh();
    }
    return onChange(['files'], refresh);
  }, []);
  useKeys({ '/': () => focusOn('#filter'), c: () => void copy(commandLine(line)) });
  const onRange = useCallback(
    (from: number, to: number) => {
      wanted = [rowAt(groups, from).row, rowAt(groups, Math.max(0, to - 1)).row];
      fill();
    },
    [groups],
  );
  const row = (at: number, isCurrent: boolean) => {
    const { group: heading, row: index } = rowAt(groups, at);
    if (!heading) return <Row key={at} at={at} file={fileAt(index)} isCurrent={isCurrent} />;
    return (
      <tr key={at} class="row group" aria-rowindex={at + 2}>
        <th scope="rowgroup" colSpan={8}>
          <Text>{heading.name || `without ${group === 'order' ? 'an order' : `a ${group}`}`}</Text>{' '}
          <span class="muted">{countText(heading.count)}</span>
        </th>
      </tr>
    );
  };
  return (
    <main class="wide" tabIndex={-1}>
      <h1 class="unseen">Files</h1>
      <form class="tools" onSubmit={(event) => event.preventDefault()}>
        <SearchField
          {...{
            id: 'filter',
            label: 'Filter files',
            hint: 'Filter: title, id, order, key, tag, feed, state',
            value: q,
          }}
          onType={(typed) => choose({ q: typed }, TYPING_PAUSE_MS)}
        />
        <Select
          label="State"
          value={state}
          choices={stateChoices}
          onPick={(name) => choose({ state: name })}
        />
        <Select
          label="Group"
          value={group}
          choices={groupChoices}
          onPick={(name) => choose({ group: name })}
        />
        <span class="only-narrow">
          <Select label="Sort" value={sort} choices={sortChoices} onPick={sortBy} />
        </span>
        <output class="count muted">{found.value ? countOf(total, all) : ''}</output>
        <Command line={line} />
      </form>
      <Failed error={failure.value} />
      {found.value && total === 0 ? (
        <NoFiles all={all} />
      ) : (
        <List
          {...{ label: 'Files', count: total + groups.length, place, row, onRange }}
          head={<Head />}
          isHeading={(at) => rowAt(groups, at).group !== undefined}
        />
      )}
    </main>
  );
}
