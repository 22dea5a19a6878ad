/** What the pages are told of events, and their replay. */
import { Actions } from '../ledger/actions.ts';
import { type EventFilter, Events } from '../ledger/events.ts';
import { usage } from '../lib/errors.ts';
import { type Json, type JsonObject, toJson } from '../lib/json.ts';
import { checkUrl, maskUserinfo } from '../lib/url.ts';
import { ReceivedEvent } from '../listen/event.ts';
import { eventsOnTheWay, replayTo } from '../listen/history.ts';
import { curlLine, eventPage, meaningOf, replayedRecord } from '../views/events.ts';
import { type Call, type Handlers, missing, type PageSource, textOf, windowOf, wordsOf } from './source.ts';

export function eventHandlers(source: PageSource): Handlers {
  return {
    events: (call) => listPage(source, call),
    'event/:': (call) => showEvent(source, call),
    'event/:/replay': (call) => replay(source, call),
  };
}

/** What listeners could not write to the ledger yet comes first; it has no number. */
async function listPage({ ledger, waiting: onTheWay }: PageSource, call: Call): Promise<Json> {
  const { query } = call;
  const filter: EventFilter = {
    words: wordsOf(call),
    events: query.getAll('event').filter(Boolean),
    file: query.get('file') || undefined,
    order: query.get('order') || undefined,
  };
  const { offset, limit } = windowOf(call);
  const events = new Events(ledger);
  const waiting = await eventsOnTheWay(ledger, onTheWay, filter);
  const first = waiting.slice(offset, offset + limit);
  const left = Math.max(0, offset - waiting.length);
  const rows = await events.page(filter, limit - first.length, undefined, left);
  return toJson({
    rows: [...first, ...rows].map((row) => withSentence(new ReceivedEvent(row))),
    total: (await events.count(filter)) + waiting.length,
    all: (await events.count({})) + waiting.length,
  });
}

/** With what it says in a sentence, as the terminal has it. */
function withSentence(event: ReceivedEvent, json = event.json): JsonObject {
  const said = meaningOf(event);
  return json.set('said', said && said[0]?.toUpperCase() + said.slice(1));
}

async function eventOf({ ledger }: PageSource, id: string): Promise<ReceivedEvent> {
  const row = /^\d{1,15}$/.test(id) ? await new Events(ledger).get(Number(id)) : undefined;
  if (!row) throw missing(`event ${id}`, 'list them: steno events');
  return new ReceivedEvent(row);
}

async function showEvent(source: PageSource, { id }: Call): Promise<Json> {
  const event = await eventOf(source, id);
  const actions = await new Actions(source.ledger).forEvent(event.n);
  const { json } = eventPage(event, actions, false);
  const target = actions.find(({ kind }) => kind === 'forward')?.target;
  if (!(json instanceof Map)) return json;
  return withSentence(event, json).set('curl', curlLine(event, target && maskUserinfo(target)));
}

/** To a URL alone: no page runs a command. A body makes it an edited copy, which is marked. */
async function replay(source: PageSource, call: Call): Promise<Json> {
  const { env, signal } = source;
  const to = textOf(call, 'to');
  const body = textOf(call, 'body');
  if (!to) throw usage('no target was named', 'write the URL to send the event to');
  checkUrl(to, 'hook');
  const event = await eventOf(source, call.id);
  const editedBody = body === undefined ? undefined : Buffer.from(body);
  const [outcome] = await replayTo(to, [event], { env, signal, editedBody });
  const { value, error } = outcome ?? {};
  return replayedRecord.json(value ?? { n: event.n, target: maskUserinfo(to), outcome: '', error });
}
