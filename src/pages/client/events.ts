/** Received events, newest first and live; and one: its fields, its body, its actions, and sending it again. */
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { eventTypes, toneOf } from '../../catalog/events.ts';
import { shellWord } from '../../lib/text.ts';
import { get, useLoad } from './api.ts';
import { type Child, el, onText } from './el.ts';
import { shortTime } from './format.ts';
import { useKeys } from './keys.ts';
import { type Column, choose, Listing, listOf, queryOf } from './list.ts';
import * as parts from './parts.ts';
import { go } from './route.ts';
import type { Action, EventDocument, ShownEvent } from './types.ts';

const { a, b, code, form, h1, header, label, output, p, pre, span } = el;

const eventName = ({ event }: EventDocument) =>
  span(`event-name ${toneOf(event) ?? ''}`, event.slice(0, 100) || '(no name)');

/** Where it comes from, unless the service sent it. */
const sourceChip = ({ source }: EventDocument): Child =>
  source === 'found'
    ? span({ class: 'chip', title: 'Found by asking the service' }, 'found')
    : source === 'test' && span({ class: 'chip', title: 'The listener’s own test' }, 'test');

const sentenceOf = ({ said, event }: EventDocument): string =>
  (said || event || 'An event without a name').slice(0, 300);

/** One that waits to be moved to the ledger has no number, and no page yet. */
function saidCell(event: EventDocument, tabIndex: number): Child {
  const { n } = event;
  if (n === null) return [sentenceOf(event), ' ', span('chip', 'arriving')];
  const link = a({ href: `#/event/${n}`, tabIndex }, sentenceOf(event), span('unseen', ` event ${n}`));
  return [link, ' ', sourceChip(event)];
}

const columns: ReadonlyArray<Column<EventDocument>> = [
  { title: 'Number', cell: ({ n }) => span('muted', n) },
  { title: 'What happened', cell: saidCell },
  { title: 'Title', cell: ({ title }) => parts.text(title) },
  { title: 'Event', cell: eventName },
  { title: 'File', cell: ({ audiofile }) => audiofile },
  { title: 'Order', cell: ({ order }) => order },
  { title: 'Received', cell: (event) => parts.timeAt(event.received_at) },
];

export const list = listOf<EventDocument>({
  ...{ path: '/api/events', topic: 'events', noun: 'event', columns, usual: { q: '', event: '' } },
  hint: 'Filter: any text in an event',
  idOf: ({ n, received_at, audiofile }) => String(n ?? `${received_at} ${audiofile}`),
});

const choices = [['', 'All events'] as const, ...eventTypes.map(({ name }): parts.Choice => [name, name])];

export function Events() {
  const { event = '' } = queryOf(list);
  return h(Listing<EventDocument>, {
    list,
    line: event ? `events --event ${event} --follow` : 'events --follow',
    none: ['No events yet. Receive some:', 'listen'],
    extra: [parts.select('Event', event, choices, (name) => choose(list, { event: name }))],
  });
}

const TARGET = 'steno-replay-to';
const EXAMPLE = 'http://127.0.0.1:3000/hook';
const actionTones: Readonly<Record<string, string>> = { done: 'good', failed: 'bad', given_up: 'bad' };

const actionOf = ({ kind, target, status, tries, outcome, updated_at, next_try_at }: Action): Child => [
  b(actionTones[status] ?? 'busy', status),
  ` ${kind} `,
  code('', target),
  p('', outcome),
  p('muted', tries > 1 && `${tries} tries, `, parts.timeAt(updated_at)),
  next_try_at && p('muted', 'next try ', parts.timeAt(next_try_at)),
];

/** What a replay did. */
interface Outcome extends Record<'what' | 'text' | 'at', string> {
  readonly isBad: boolean;
}
const MAX_OUTCOMES = 10;

const outcomeOf = ({ what, text, at, isBad }: Outcome): Child => [
  b(isBad ? 'bad' : 'good', text),
  p('muted', parts.text(what), ', ', parts.timeAt(at)),
];

async function replay({ n }: ShownEvent, to: string, body: string | undefined): Promise<Outcome> {
  const what = body === undefined ? `Event ${n}` : 'Edited copy';
  const at = new Date().toISOString();
  try {
    type Replayed = { readonly outcome: string | null; readonly error?: { readonly message: string } };
    const { outcome, error } = await get<Replayed>(`/api/event/${n}/replay`, { to, body });
    if (error) throw error;
    return { what: `${what} sent to ${to}`, text: outcome ?? 'no answer', at, isBad: false };
  } catch (error) {
    return { what: `${what} not delivered to ${to}`, text: (error as Error).message, at, isBad: true };
  }
}

function Replay({ event }: { event: ShownEvent }) {
  const forwarded = event.actions.find(({ kind }) => kind === 'forward')?.target;
  const [to, setTo] = useState(sessionStorage.getItem(TARGET) ?? forwarded ?? '');
  const [body, setBody] = useState<string | undefined>(undefined);
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const [isBusy, setBusy] = useState(false);
  const isEdited = body !== undefined && body !== event.body;
  const onSubmit = async (submit: Event): Promise<void> => {
    submit.preventDefault();
    setBusy(true);
    sessionStorage.setItem(TARGET, to);
    const outcome = await replay(event, to, isEdited ? body : undefined);
    setOutcomes((old) => [outcome, ...old].slice(0, MAX_OUTCOMES));
    setBusy(false);
  };
  const props = { type: 'url', id: 'target', placeholder: EXAMPLE, value: to, required: true } as const;
  const edit = body !== undefined && [
    label('', 'Body ', isEdited && span('chip', 'edited')),
    el.textarea({ rows: 8, spellcheck: false, value: body, onInput: onText(setBody), 'aria-label': 'Body' }),
    el.small('muted', 'An edited copy is sent with the header Steno-Edited: true, to this URL only.'),
  ];
  const submit = el.button({ type: 'submit', class: 'main' }, isEdited ? 'Send the edited copy' : 'Replay');
  const toggle = (): void => setBody(body === undefined ? event.body : undefined);
  return form(
    { class: 'replay', onSubmit },
    label('', 'Target URL', el.input({ ...props, onInput: onText(setTo) })),
    edit,
    p('buttons', submit, parts.button(body === undefined ? 'Edit and replay' : 'Discard the edit', toggle)),
    output('', isBusy ? 'Sending…' : parts.facts(outcomes, outcomeOf)),
    parts.command(`events replay ${event.n} --to ${shellWord(to || EXAMPLE)}`),
  );
}

const fieldsOf = ({ fields, content_type, remote }: ShownEvent): Array<readonly [string, string]> => [
  ...Object.entries(fields).flatMap(([name, value]) => [value].flat().map((each) => [name, each] as const)),
  ['content type', content_type],
  ['from', remote],
];

function leadOf(event: ShownEvent) {
  const { n, received_at, audiofile, title, duplicate, source } = event;
  const file = audiofile && [' · ', parts.fileLink(audiofile, title || `file ${audiofile}`)];
  const how = source === 'found' ? 'arrived later as' : 'found earlier as';
  const other = duplicate && a({ class: 'aside', href: `#/event/${duplicate}` }, `${how} event ${duplicate}`);
  const when = [parts.timeAt(received_at, shortTime), span('muted', ' (', parts.timeAt(received_at), ')')];
  const kind = [eventName(event), span('muted', ` event ${n} `), sourceChip(event)];
  return header('lead', h1('', sentenceOf(event)), p('', kind), p('', when, file, other));
}

function partsOf(event: ShownEvent): readonly Child[] {
  const { body, curl, actions, n } = event;
  const copyCurl = parts.button('Copy as curl', () => void parts.copy(curl, 'the curl command line'));
  const noActions = p('muted', 'No action was asked for when it arrived.');
  return [
    leadOf(event),
    [
      parts.panel('Fields', null, parts.pairs(fieldsOf(event))),
      parts.panel('Body as received', copyCurl, pre('', body)),
    ],
    [
      parts.panel('Actions', null, parts.facts(actions, actionOf, noActions)),
      parts.panel('Replay', null, h(Replay, { key: n, event })),
    ],
  ];
}

export function EventPage({ id }: { id: string }) {
  const loaded = useLoad<ShownEvent>(`/api/event/${encodeURIComponent(id)}`, ['events']);
  useKeys({ Escape: () => go('events') });
  const above = parts.crumbs('events', `events show ${shellWord(id)}`);
  return parts.usePage(`Event ${id}`, above, loaded, partsOf);
}
