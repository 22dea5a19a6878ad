/** Events as people and scripts read them. */
import type { ActionRow } from '../ledger/actions.ts';
import type { StenoError } from '../lib/errors.ts';
import type { JsonObject } from '../lib/json.ts';
import { oneLine, plural, quotedWord, shellWord } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import type { ActionReport } from '../listen/action.ts';
import type { ReceivedEvent } from '../listen/event.ts';
import type { Replayed } from '../listen/history.ts';
import {
  countField,
  documentOf,
  errorField,
  RecordType,
  textField,
  timeField,
  viewPages,
  wordField,
} from './record.ts';
import * as is from './schema.ts';

/** Empty for an event that is not in the ledger yet. */
const numberOf = ({ n }: ReceivedEvent): string => (n === 0 ? '' : String(n));

/** The rows of events; eventSchema describes their JSON. */
export const eventRecord = new RecordType<ReceivedEvent>([
  textField('n', 'event number', numberOf, { kind: 'id' }),
  timeField('received_at', 'when the event arrived', 'receivedAt', { header: 'received', importance: 60 }),
  textField('event', 'event type; empty if the event names none', 'event', { importance: 90, uncut: true }),
  textField('audiofile', 'audiofile id', 'audiofile', { kind: 'id', importance: 80 }),
  textField('order', 'order id', 'order', { importance: 40, uncut: true }),
  textField('title', 'title of the file, if the ledger knows it', 'title', { importance: 70 }),
  textField('meaning', 'what the event means', (event) => meaningOf(event), { importance: 50 }),
  textField('webhook_version', 'version of the webhook, from the service', 'version', { more: true }),
  textField(
    'source',
    'received, or found: made by steno in place of a delivery that never arrived',
    (event) => event.source,
    { more: true },
  ),
  textField('body', 'body as received', (event) => textOf(event), { more: true }),
]);

const [TYPE_AT = 0] = eventRecord.places(['event']);

/** How much a listing shows of an event: a line for people, all that is known, or its body too. */
type EventDetail = 'line' | 'full' | 'body';

const columnCounts: Readonly<Record<EventDetail, number>> = {
  line: eventRecord.columns.length - 3,
  full: eventRecord.columns.length - 1,
  body: eventRecord.columns.length,
};

export const eventsView = (events: readonly ReceivedEvent[], detail: EventDetail): View => ({
  // Made only if asked for: there may be thousands of events a second.
  get json() {
    return events.map((event) => event.json);
  },
  get quiet() {
    return events.map(numberOf).filter(Boolean);
  },
  columns: eventRecord.columns.slice(0, columnCounts[detail]),
  rows: events.map((event) => {
    const cells = eventRecord.cells(event, columnCounts[detail]);
    if (detail === 'line') cells[TYPE_AT] ||= '(no name)';
    return cells;
  }),
});

export const eventPages = (
  pages: AsyncIterable<readonly ReceivedEvent[]>,
  detail: EventDetail,
): AsyncGenerator<View> => viewPages(pages, (page) => eventsView(page, detail), []);

/** An event that could not be kept, on one line. The service does not send it again, so this is all of it. */
export function lostLine(event: ReceivedEvent): string {
  const order = event.order && `order ${event.order}`;
  const what = [event.event || '(no name)', event.audiofile, order, knownMeaningOf(event)];
  const fields = fieldRows(event).map(([name, value]) => `${quoted(name)}=${quoted(value)}`);
  const all = [...fields, ...(isListedWhole(event) ? [] : [`body=${quoted(textOf(event))}`])].join(' ');
  return `not saved: ${what.filter(Boolean).join(' ')}; received ${event.receivedAt} from ${event.remote}: ${all}`;
}

export function lostJson(event: ReceivedEvent): JsonObject {
  const json = event.json.set('remote', event.remote).set('content_type', event.contentType);
  return isListedWhole(event) ? json : json.set('body', textOf(event));
}

const isListedWhole = ({ fields, unlistedFields }: ReceivedEvent): boolean =>
  fields.size > 0 && unlistedFields === 0;

/** So that a value with spaces is told from the next field. */
const quoted = (text: string): string => (/^[^\s"=]+$/.test(text) ? text : JSON.stringify(text));

/** What --quiet prints of an event. */
export const subjectOf = ({ audiofile, order, event }: ReceivedEvent): string => audiofile || order || event;

/** What an event means for the user; of one that we do not know, its fields. */
export const meaningOf = (event: ReceivedEvent): string =>
  knownMeaningOf(event) ??
  [...event.fields]
    .filter(([name]) => !['event', 'webhook_version', 'audiofile', 'order'].includes(name))
    .map(([name, values]) => `${name}=${values.join(',')}`)
    .concat(event.unlistedFields ? [`(${plural(event.unlistedFields, 'more field')})`] : [])
    .join(' ');

function knownMeaningOf(event: ReceivedEvent): string | undefined {
  switch (event.event) {
    case 'TRANSCRIPT_COMPLETE':
      return 'the transcript is ready';
    case 'DUPLICATE_FILE':
      return `the same audio as ${event.field('original_audiofile') || 'an earlier file'}`;
    case 'REFUND_ISSUED':
      return `${event.field('amount') || 'an amount'} went back to the balance`;
    case 'CC_AUTH_FAILURE':
      return 'the card was refused; the service tries again in a few hours';
    case 'DIFFICULT_AUDIO':
      return 'the audio is difficult; DIFFQ2 may be needed';
    case 'ORDER_ON_HOLD':
      return `held (${event.field('hold') || 'unknown'}): work starts once the hold is released`;
    default:
      return undefined;
  }
}

const textOf = ({ body }: ReceivedEvent): string => Buffer.from(body).toString('utf8');

/** Everything that is known of one event. For programs, its rows have the names of its JSON. */
export function eventPage(event: ReceivedEvent, actions: readonly ActionRow[], isBrief: boolean): View {
  const done = actions.map(
    ({ kind, target, status, tries, outcome, due_at }) =>
      `${kind} ${target}: ${status}${outcome ? `, ${outcome}` : ''}${tries > 1 ? ` (${tries} tries)` : ''}` +
      (due_at ? `, next try at ${due_at}` : ''),
  );
  return {
    json: new Map([...event.json, ...shownEvent.json({ event, actions })]),
    columns: [{ name: 'name' }, { name: 'value' }],
    rows: isBrief ? labelledRows(event, done) : namedRows(event, done),
    asPairs: true,
    quiet: [textOf(event)],
  };
}

type Pair = readonly [string, string];

export const fieldRows = ({ fields }: ReceivedEvent, prefix = ''): Pair[] =>
  [...fields].flatMap(([name, values]) => values.map((value): Pair => [`${prefix}${name}`, value]));

function namedRows(event: ReceivedEvent, done: readonly string[]): Pair[] {
  return [
    ...eventRecord
      .cells(event, columnCounts.full)
      .map((cell, at): Pair => [eventRecord.columns[at]?.name ?? '', cell]),
    ...fieldRows(event, 'fields.'),
    ['fields_left_out', String(event.unlistedFields)],
    ['duplicate', event.duplicate ? String(event.duplicate) : ''],
    ['remote', event.remote],
    ['content_type', event.contentType],
    ['body', textOf(event)],
    ...done.map((line): Pair => ['actions', line]),
  ];
}

function labelledRows(event: ReceivedEvent, done: readonly string[]): Pair[] {
  const rows: Pair[] = [
    ['number', String(event.n)],
    ['received', event.receivedAt],
    ['source', event.source],
    [
      event.source === 'found' ? 'arrived later as' : 'found earlier as',
      event.duplicate ? `event ${event.duplicate}` : '',
    ],
    ['from', event.remote],
    ['title', event.title],
    ['meaning', meaningOf(event)],
    ...fieldRows(event, 'field '),
    ['more fields', event.unlistedFields ? String(event.unlistedFields) : ''],
    ['content type', event.contentType],
    ['body', textOf(event)],
    ...done.map((line) => ['action', line] as const),
  ];
  return rows.filter(([, value]) => value !== '');
}

/** A line for a shell that sends the body as it is kept: without the key, and without the signatures of links. */
export function curlLine(
  { contentType, body }: ReceivedEvent,
  target = 'http://127.0.0.1:3000/hook',
): string {
  const text = Buffer.from(body).toString('utf8');
  const isPlain = Buffer.from(text).equals(body) && !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(text);
  const head = `curl -X POST -H ${quotedWord(`content-type: ${oneLine(contentType)}`)}`;
  if (isPlain) return `${head} --data-raw ${quotedWord(text)} ${shellWord(target)}`;
  const encoded = Buffer.from(body).toString('base64');
  return `echo ${encoded} | base64 -d | ${head} --data-binary @- ${shellWord(target)}`;
}

export const verbs = { forward: 'forwarded to', exec: 'ran', download: 'downloaded' } as const;

/** The result of an action, or the state of its target, as one line. */
export function reportLine({ action, event, what, outcome, saved }: ActionReport): string {
  const { kind, target } = action;
  if (what === 'down')
    return `${kind} ${target} does not work: ${outcome}; pending events are saved and retried`;
  if (what === 'back') return `${kind} ${target} works again`;
  if (!event) return `gave up on ${kind} ${target}: ${outcome}`;
  const subject = `event ${event.n}`;
  if (what === 'later') return `${subject}: ${kind} ${target} failed, will be retried: ${outcome}`;
  if (saved) return `${subject}: ${verbs.download} ${outcome}`;
  return what === 'done'
    ? `${subject}: ${verbs[kind]} ${target} (${outcome})`
    : `${subject}: ${kind} ${target} failed: ${outcome}`;
}

/** One that was sent once more, or could not be. */
export interface ShownReplay extends Pick<Replayed, 'n' | 'target'> {
  readonly outcome: string;
  readonly error?: StenoError | undefined;
}

export const replayedRecord = new RecordType<ShownReplay>([
  countField('n', 'event number', 'n', { kind: 'id' }),
  wordField('target', 'URL that it was sent to, or the command', 'target', { kind: 'link' }),
  textField('outcome', 'result; null if it failed', 'outcome', { importance: 90 }),
  errorField(({ error }) => error),
]);

/** Rows and --quiet: of what was sent. JSON: of all that was asked for. */
export function replayedView(replayed: readonly ShownReplay[]): View {
  const sent = replayedRecord.view(replayed.filter(({ error }) => !error));
  return { ...sent, json: replayed.map((each) => replayedRecord.json(each)) };
}

const eventMembers = {
  n: is.described('event number; null until it is in the ledger', is.maybeInteger),
  source: is.described(
    'received; found: made by steno in place of a delivery that never arrived; test: from steno webhook test',
    is.oneOf('received', 'found', 'test'),
  ),
  received_at: is.time,
  event: is.described('event type; empty if the event names none', is.text),
  webhook_version: is.maybeText,
  audiofile: is.described('audiofile id', is.maybeText),
  order: is.described('order id', is.maybeText),
  title: is.described('title of the file, if the ledger knows it', is.maybeText),
  key: is.described('key that identifies the audio instead of its URL', is.maybeText),
  tags: is.described('tags of its order', is.arrayOf(is.text)),
  feed: is.described('title of its feed', is.maybeText),
  fields: is.described('all fields; one that occurs several times is a list', {
    type: 'object',
    additionalProperties: { anyOf: [is.text, is.arrayOf(is.text)] },
  }),
  fields_left_out: is.described('number of fields beyond those listed', is.integer),
};

export const eventSchema: is.Schema = is.object(eventMembers);

const shownAction = documentOf<ActionRow>({
  kind: [is.oneOf('forward', 'exec', 'download'), 'kind'],
  target: [is.text, 'target'],
  status: [is.text, 'status'],
  tries: [is.integer, 'tries'],
  outcome: [is.text, 'outcome'],
  updated_at: [is.maybeTime, 'updated_at'],
  next_try_at: [is.maybeTime, ({ due_at }) => due_at || null],
});

/** What is shown of one event beside the document that all commands print. */
const shownEvent = documentOf<{ readonly event: ReceivedEvent; readonly actions: readonly ActionRow[] }>({
  duplicate: [
    is.maybeInteger,
    ({ event }) => event.duplicate,
    'for a found event, the number of the delivery that arrived later, and vice versa',
  ],
  remote: [is.text, ({ event }) => event.remote, 'address of the sender'],
  content_type: [is.text, ({ event }) => event.contentType],
  body: [is.text, ({ event }) => textOf(event), 'body as received'],
  body_base64: [is.text, ({ event }) => Buffer.from(event.body).toString('base64')],
  actions: [is.arrayOf(shownAction.schema), ({ actions }) => actions.map(shownAction.json)],
});

export const shownEventSchema: is.Schema = is.object({ ...eventMembers, ...shownEvent.properties });
