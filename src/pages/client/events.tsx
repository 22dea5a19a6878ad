/** Received events, newest first and live. */
import { signal } from '@preact/signals';
import { useCallback, useEffect } from 'preact/hooks';
import { type CallError, get, onChange, oneAtATime } from './api.ts';
import { countText, plural, shellWord } from './format.ts';
import { focusOn, useKeys } from './keys.ts';
import { List, newPlace, tabIndexOf } from './list.tsx';
import { Command, commandLine, copy, Empty, Failed, SearchField, Select, Text, Time } from './parts.tsx';
import { keep, pathWith, route } from './route.ts';
import type { EventDocument } from './types.ts';

const PAGE = 100;
const TYPING_PAUSE_MS = 150;

interface Listed {
  readonly total: number;
  readonly rows: readonly EventDocument[];
  readonly all: number;
}

interface Query {
  readonly q: string;
  readonly event: string;
  readonly file: string;
  readonly order: string;
}

const noQuery: Query = { q: '', event: '', file: '', order: '' };
const query = signal(noQuery);
const shown = signal<(Listed & { readonly isWhole: boolean; readonly added: number }) | undefined>(undefined);
const failure = signal<CallError | undefined>(undefined);
/** Events that arrived while the list is paused. */
const held = signal(0);
const isPaused = signal(false);
const place = newPlace();
/** Events up to this number were there when the list was opened; later ones are marked as new for a moment. */
let newestAtFirst = Number.POSITIVE_INFINITY;
let abort = new AbortController();

async function read(before?: number): Promise<Listed | undefined> {
  const { signal } = abort;
  try {
    const answer = await get<Listed>(
      pathWith('/api/events', { ...query.value, before, limit: PAGE }),
      signal,
    );
    failure.value = undefined;
    return answer;
  } catch (error) {
    if (!signal.aborted) failure.value = error as CallError;
    return undefined;
  }
}

const numberOf = (event: EventDocument | undefined): number => event?.n ?? Number.POSITIVE_INFINITY;

/** The latest events, put before those that are shown. */
async function readLatest(): Promise<void> {
  const latest = await read();
  if (!latest) return;
  const known = shown.value?.rows.filter(({ n }) => n !== null) ?? [];
  const fresh = latest.rows.filter((event) => !known.length || numberOf(event) > numberOf(known[0]));
  if (isPaused.value && known.length) {
    held.value = fresh.length;
    return;
  }
  held.value = 0;
  // A gap between them and what is known: the list begins anew.
  const isJoined = known.length > 0 && fresh.length < latest.rows.length;
  const rows = isJoined ? [...fresh, ...known] : latest.rows;
  const isWhole = isJoined ? (shown.value?.isWhole ?? false) : latest.rows.length < PAGE;
  const numbered = rows.find(({ n }) => n !== null);
  newestAtFirst = Math.min(newestAtFirst, numbered?.n ?? 0);
  shown.value = { ...latest, rows, isWhole, added: isJoined ? fresh.length : 0 };
}

const follow = oneAtATime(readLatest);

const readOlder = oneAtATime(async () => {
  const { value } = shown;
  const last = value?.rows.at(-1)?.n;
  if (!value || value.isWhole || !last) return;
  const older = await read(last);
  const current = shown.value;
  if (!older || current?.rows.at(-1)?.n !== last) return;
  const isWhole = older.rows.length < PAGE;
  shown.value = { ...current, rows: [...current.rows, ...older.rows], isWhole, added: 0 };
});

let typing: ReturnType<typeof setTimeout> | undefined;

function choose(change: Partial<Query>, delay = 0): void {
  query.value = { ...query.value, ...change };
  keep({ ...query.value });
  clearTimeout(typing);
  typing = setTimeout(() => {
    abort.abort();
    abort = new AbortController();
    newestAtFirst = Number.POSITIVE_INFINITY;
    void read().then((answer) => {
      if (!answer) return;
      newestAtFirst = answer.rows.find(({ n }) => n !== null)?.n ?? 0;
      shown.value = { ...answer, isWhole: answer.rows.length < PAGE, added: 0 };
      for (const list of document.querySelectorAll('.list')) list.scrollTop = 0;
    });
  }, delay);
}

const names = [
  'TRANSCRIPT_COMPLETE',
  'DUPLICATE_FILE',
  'REFUND_ISSUED',
  'CC_AUTH_FAILURE',
  'DIFFICULT_AUDIO',
  'ORDER_ON_HOLD',
];
const choices = [{ name: '', label: 'All events' }, ...names.map((name) => ({ name, label: name }))];

const tones: Readonly<Record<string, string>> = {
  ...{ TRANSCRIPT_COMPLETE: 'good', CC_AUTH_FAILURE: 'bad', REFUND_ISSUED: 'busy' },
  ...{ DUPLICATE_FILE: 'warn', DIFFICULT_AUDIO: 'warn', ORDER_ON_HOLD: 'warn' },
};

export const EventName = ({ event }: { event: EventDocument }) => (
  <span class={`event-name ${tones[event.event] ?? ''}`}>{event.event || '(no name)'}</span>
);

export const Found = ({ event }: { event: EventDocument }) =>
  event.source === 'found' ? (
    <span class="chip" title="It never arrived; steno found it by asking the service">
      found
    </span>
  ) : null;

const ownFields = new Set(['event', 'webhook_version', 'audiofile', 'order']);

/** The fields that have no column of their own. */
const otherFields = ({ fields }: EventDocument): string =>
  Object.entries(fields)
    .filter(([name]) => !ownFields.has(name))
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
    .slice(0, 300);

function Row({ at, event, isCurrent }: { at: number; event: EventDocument | undefined; isCurrent: boolean }) {
  const isNew = event && numberOf(event) > newestAtFirst;
  const classes = ['row events', isCurrent && 'current', isNew && 'changed', !event && 'waiting'];
  const name = event && (
    <>
      <EventName event={event} /> <span class="unseen">event {event.n}</span>
    </>
  );
  return (
    <tr class={classes.filter(Boolean).join(' ')} aria-rowindex={at + 2} data-row={at}>
      <td class="number muted">{event?.n}</td>
      <td class="name">
        {event?.n ? (
          <a href={`#/event/${event.n}`} tabIndex={tabIndexOf(isCurrent)}>
            {name}
          </a>
        ) : (
          (name ?? <span class="unseen">Loading</span>)
        )}
      </td>
      <td class="title">
        {event ? <Found event={event} /> : null} <Text>{(event?.title ?? '').slice(0, 400)}</Text>{' '}
        <span class="muted">{event ? otherFields(event) : ''}</span>
      </td>
      <td class="file">{event?.audiofile}</td>
      <td class="order">{event?.order}</td>
      <td class="received">
        <Time at={event?.received_at} />
      </td>
    </tr>
  );
}

const headings = ['Number', 'Event', 'Title and fields', 'File', 'Order', 'Received'];
const Head = () => (
  <tr class="row events">
    {headings.map((label) => (
      <th key={label} scope="col" class={label.split(' ')[0]?.toLowerCase()}>
        {label}
      </th>
    ))}
  </tr>
);

function togglePause(): void {
  isPaused.value = !isPaused.value;
  if (!isPaused.value) follow();
}

const pauseText = (): string => {
  if (!isPaused.value) return 'Pause';
  return held.value ? `Resume (${held.value} new)` : 'Resume';
};

/** The same on the command line, but for the text, which it can't filter by. */
const lineOf = ({ event, file, order }: Query): string =>
  [
    'events',
    ...Object.entries({ event, file, order }).flatMap(([name, value]) =>
      value ? [`--${name}`, shellWord(value)] : [],
    ),
    '--follow',
  ].join(' ');

function Tools({ count }: { count: string }) {
  const { q, event, file, order } = query.value;
  return (
    <form class="tools" onSubmit={(submit) => submit.preventDefault()}>
      <SearchField
        {...{ id: 'filter', label: 'Filter events', hint: 'Filter: any text in an event', value: q }}
        onType={(typed) => choose({ q: typed }, TYPING_PAUSE_MS)}
      />
      <Select label="Event" value={event} choices={choices} onPick={(name) => choose({ event: name })} />
      {file || order ? (
        <button
          type="button"
          onClick={() => choose({ file: '', order: '' })}
          aria-label="Show events of all files"
        >
          {file ? `File ${file}` : `Order ${order}`} ×
        </button>
      ) : null}
      <button type="button" class="pause" aria-pressed={isPaused.value} onClick={togglePause}>
        {pauseText()}
      </button>
      <output class="count muted">{shown.value ? count : ''}</output>
      <Command line={lineOf(query.value)} />
    </form>
  );
}

const countOf = (total: number, all: number): string =>
  total === all ? plural(all, 'event') : `${countText(total)} of ${countText(all)}`;

export function Events() {
  const { rows = [], total = 0, all = 0, isWhole = false, added = 0 } = shown.value ?? {};
  useEffect(() => {
    const given = Object.fromEntries(route.peek().params);
    if (Object.keys(given).length || !shown.peek()) choose({ ...noQuery, ...given });
    else follow();
    return onChange(['events'], follow);
  }, []);
  useKeys({
    '/': () => focusOn('#filter'),
    p: togglePause,
    c: () => void copy(commandLine(lineOf(query.value))),
  });
  const onRange = useCallback((_: number, to: number) => {
    if (to >= (shown.peek()?.rows.length ?? 0) - PAGE / 2) readOlder();
  }, []);
  const row = (at: number, isCurrent: boolean) => (
    <Row key={rows[at]?.n ?? `at ${at}`} at={at} event={rows[at]} isCurrent={isCurrent} />
  );
  const isFiltered = Object.values(query.value).some(Boolean);
  return (
    <main class="wide" tabIndex={-1}>
      <h1 class="unseen">Events</h1>
      <Tools count={countOf(total, all)} />
      <Failed error={failure.value} />
      {shown.value && rows.length === 0 ? (
        <Empty title={isFiltered ? 'No event matches.' : 'No events yet. Receive some:'} line="listen" />
      ) : (
        <List
          label="Events, newest first"
          {...{ count: rows.length + (isWhole ? 0 : 1), place, row, onRange, added }}
          head={<Head />}
        />
      )}
    </main>
  );
}
