/** Received events, newest first and live. */
import { h } from 'preact';
import { eventTypes, toneOf } from '../../catalog/events.ts';
import { type Child, el } from './el.ts';
import { type Column, Listing } from './list.ts';
import * as parts from './parts.ts';
import { Rows } from './rows.ts';
import type { EventDocument } from './types.ts';

const { a, span } = el;

export const rows = new Rows<EventDocument>({
  ...{ path: '/api/events', topic: 'events' },
  usual: { q: '', event: '' },
  idOf: ({ n, received_at, audiofile }) => String(n ?? `${received_at} ${audiofile}`),
  stateOf: () => null,
  growsAtTop: () => true,
});

export const eventName = ({ event }: EventDocument) =>
  span(`event-name ${toneOf(event) ?? ''}`, event.slice(0, 100) || '(no name)');

export const foundChip = ({ source }: EventDocument): Child =>
  source === 'found' && span({ class: 'chip', title: 'Found by asking the service' }, 'found');

const ownFields = new Set(['event', 'webhook_version', 'audiofile', 'order']);

/** The fields that have no column of their own. */
const otherFields = ({ fields }: EventDocument): string =>
  Object.entries(fields)
    .filter(([name]) => !ownFields.has(name))
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
    .slice(0, 300);

/** One that waits to be moved to the ledger has no number, and no page yet. */
function nameCell(event: EventDocument, tabIndex: number): Child {
  if (event.n === null) return [eventName(event), ' ', span('chip', 'arriving')];
  return a({ href: `#/event/${event.n}`, tabIndex }, eventName(event), span('unseen', ` event ${event.n}`));
}

const titleCell = (event: EventDocument): Child => [
  foundChip(event),
  ' ',
  parts.text(event.title),
  ' ',
  span('muted', otherFields(event)),
];

const columns: ReadonlyArray<Column<EventDocument>> = [
  ['Number', ({ n }) => span('muted', n)],
  ['Event', nameCell],
  ['Title and fields', titleCell],
  ['File', ({ audiofile }) => audiofile],
  ['Order', ({ order }) => order],
  ['Received', (event) => parts.timeAt(event.received_at)],
];

const choices = [['', 'All events'] as const, ...eventTypes.map(({ name }): parts.Choice => [name, name])];

export function Events() {
  const { event = '' } = rows.query.value;
  return h(Listing<EventDocument>, {
    ...{ rows, columns, noun: 'event', hint: 'Filter: any text in an event' },
    line: event ? `events --event ${event} --follow` : 'events --follow',
    none: ['No events yet. Receive some:', 'listen'],
    extra: [parts.select('Event', event, choices, (name) => rows.choose({ event: name }))],
  });
}
