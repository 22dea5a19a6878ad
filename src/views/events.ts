/** Events as people and scripts read them. */
import type { ActionRow } from '../ledger/actions.ts';
import type { StenoError } from '../lib/errors.ts';
import type { JsonObject } from '../lib/json.ts';
import { oneLine, plural, quotedWord, shellWord } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import type { ReceivedEvent } from '../listen/event.ts';
import type { Replayed } from '../listen/history.ts';
import * as a from './fields.ts';
import { RecordType, ranked, viewPages } from './record.ts';
import * as is from './schema.ts';

const json = { cell: false } as const;
const more = { more: true } as const;

/** Columns and schema of an event; its document is the one that commands get, `event.json`. */
export const eventRecord = ranked<ReceivedEvent>('event audiofile title received_at meaning order', [
  a.number('n', 'event number; null until it is in the ledger', ({ n }) => n || null, {
    ...{ kind: 'id', schema: is.maybeInteger },
  }),
  a.time('received_at', 'when the event arrived', 'receivedAt', { header: 'received', schema: is.time }),
  a.word('event', 'event type; empty if the event names none', 'event', { uncut: true }),
  a.text('audiofile', 'audiofile id', 'audiofile', { kind: 'id' }),
  a.text('order', 'order id', 'order', { uncut: true }),
  a.text('title', 'title of the file, if the ledger knows it', 'title'),
  a.column('meaning', 'what the event means', (event) => meaningOf(event)),
  a.text('webhook_version', 'version of the webhook, from the service', 'version', more),
  a.word(
    'source',
    'received; found: made by steno in place of a delivery that never arrived; test: from steno webhook test',
    'source',
    { more: true, schema: is.oneOf('received', 'found', 'test') },
  ),
  a.column('body', 'body as received', (event) => textOf(event), more),
  a.text('key', 'key that identifies the audio instead of its URL', 'key', json),
  a.list('tags', 'tags of its order', ({ audio }) => audio.tags ?? [], json),
  a.text('feed', 'title of its feed', ({ audio }) => audio.feed, json),
  a.plain(
    'fields',
    'all fields; one that occurs several times is a list',
    { type: 'object', additionalProperties: is.anyOf(is.text, is.arrayOf(is.text)) },
    ({ json }) => json.get('fields') as JsonObject,
  ),
  a.count('fields_left_out', 'number of fields beyond those listed', 'unlistedFields', json),
]);

export const eventsView = (events: readonly ReceivedEvent[]): View =>
  eventRecord.view(events, {
    json: () => events.map((event) => event.json),
    quiet: events.flatMap(({ n }) => (n ? [String(n)] : [])),
  });

export const eventPages = (pages: AsyncIterable<readonly ReceivedEvent[]>): AsyncGenerator<View> =>
  viewPages(pages, eventsView, []);

/** An event that could not be kept, on one line. The service does not send it again, so this is all of it. */
export function lostLine(event: ReceivedEvent): string {
  const order = event.order && `order ${event.order}`;
  const what = [event.event || '(no name)', event.audiofile, order, knownMeaningOf(event)];
  const fields = fieldPairs(event).map(([name, value]) => `${quoted(name)}=${quoted(value)}`);
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
  event.source === 'test' ? `a test: ${saidBy(event)}` : saidBy(event);

const saidBy = (event: ReceivedEvent): string =>
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

const actionRecord = new RecordType<ActionRow>([
  a.word('kind', 'what is done', 'kind', { schema: is.oneOf('forward', 'exec', 'download') }),
  a.word('target', 'URL, command or folder', 'target'),
  a.word('status', 'how it stands', 'status'),
  a.count('tries', 'number of tries', 'tries'),
  a.word('outcome', 'what came of it', 'outcome'),
  a.time('updated_at', 'when that was', 'updated_at'),
  a.time('next_try_at', 'when it is tried again', ({ due_at }) => due_at || null),
]);

interface ShownEvent {
  readonly event: ReceivedEvent;
  readonly actions: readonly ActionRow[];
}

const duplicateHelp = 'for a found event, the number of the delivery that arrived later, and vice versa';

/** What is shown of one event beside the document that all commands print. */
const detailRecord = new RecordType<ShownEvent>([
  a.number('duplicate', duplicateHelp, ({ event }) => event.duplicate, { schema: is.maybeInteger }),
  a.word('remote', 'address of the sender', ({ event }) => event.remote),
  a.word('content_type', 'content type of the body', ({ event }) => event.contentType),
  a.word('body', 'body as received', ({ event }) => textOf(event)),
  a.word(
    'body_base64',
    'the same in base64',
    ({ event }) => Buffer.from(event.body).toString('base64'),
    json,
  ),
  a.records('actions', 'what is done about it', actionRecord, 'actions'),
]);

const pairRecord = new RecordType<readonly [string, string]>([
  a.column('name', 'name in the JSON: n, received_at, fields.order', ([name]) => name),
  a.column('value', 'value as text', ([, value]) => value),
]);

export const eventOutput = () => ({
  ...pairRecord.printed,
  schema: is.merged(eventRecord.schema, detailRecord.schema),
});

/** Everything that is known of one event; a person is not told twice what its fields say. */
export function eventPage(event: ReceivedEvent, actions: readonly ActionRow[], isBrief: boolean): View {
  const shown = { event, actions };
  const head = [
    ...namedCells(eventRecord, event, (name) => !isBrief || !event.fields.has(name)),
    ...fieldPairs(event, 'fields.'),
    ['fields_left_out', String(event.unlistedFields || (isBrief ? '' : 0))] as const,
  ].filter(([name]) => name !== 'body');
  const done = actions.map((action) => ['actions', actionText(action)] as const);
  return pairRecord.view([...head, ...namedCells(detailRecord, shown), ...done], {
    json: () => new Map([...event.json, ...detailRecord.json(shown)]),
    quiet: [textOf(event)],
    asPairs: true,
  });
}

const namedCells = <T>(record: RecordType<T>, value: T, isShown = (_: string) => true) => {
  const cells = record.cells(value);
  return record.columns
    .map(({ name }, at) => [name, cells[at] ?? ''] as const)
    .filter(([name]) => isShown(name));
};

const actionText = ({ kind, target, status, tries, outcome, due_at }: ActionRow): string =>
  `${kind} ${target}: ${status}${outcome ? `, ${outcome}` : ''}${tries > 1 ? ` (${tries} tries)` : ''}` +
  (due_at ? `, next try at ${due_at}` : '');

export const fieldPairs = ({ fields }: ReceivedEvent, prefix = '') =>
  [...fields].flatMap(([name, values]) => values.map((value) => [`${prefix}${name}`, value] as const));

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

/** One that was sent once more, or could not be. */
interface ShownReplay extends Pick<Replayed, 'n' | 'target'> {
  readonly outcome: string;
  readonly error?: StenoError | undefined;
}

export const replayedRecord = ranked<ShownReplay>('outcome target', [
  a.count('n', 'event number', 'n', { kind: 'id' }),
  a.word('target', 'URL that it was sent to, or the command', 'target', { kind: 'link' }),
  a.text('outcome', 'result; null if it failed', 'outcome'),
  a.error(({ error }) => error),
]);

/** Rows and --quiet: of what was sent. JSON: of all that was asked for. */
export const replayedView = (replayed: readonly ShownReplay[]): View =>
  replayedRecord.view(
    replayed.filter(({ error }) => !error),
    { json: () => replayed.map(replayedRecord.json) },
  );
