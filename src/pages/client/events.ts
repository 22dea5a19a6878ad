/** Received events, newest first and live. */
import { h } from 'preact';
import { eventTypes, toneOf } from '../../catalog/events.ts';
import { type Child, el } from './el.ts';
import { type Column, choose, Listing, listOf, queryOf } from './list.ts';
import * as parts from './parts.ts';
import type { EventDocument } from './types.ts';

const { a, span } = el;

export const eventName = ({ event }: EventDocument) =>
  span(`event-name ${toneOf(event) ?? ''}`, event.slice(0, 100) || '(no name)');

/** Where it comes from, unless the service sent it. */
export const sourceChip = ({ source }: EventDocument): Child =>
  source === 'found'
    ? span({ class: 'chip', title: 'Found by asking the service' }, 'found')
    : source === 'test' && span({ class: 'chip', title: 'The listener’s own test' }, 'test');

export const sentenceOf = ({ said, event }: EventDocument): string =>
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
    growsAtTop: true,
    line: event ? `events --event ${event} --follow` : 'events --follow',
    none: ['No events yet. Receive some:', 'listen'],
    extra: [parts.select('Event', event, choices, (name) => choose(list, { event: name }))],
  });
}
