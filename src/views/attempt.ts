/** Attempts to order, as people and scripts read them. */
import type { Settled } from '../flows/orders/settle.ts';
import type { Attempt, LaterOrder } from '../ledger/open-attempts.ts';
import { toJson } from '../lib/json.ts';
import { senderText } from '../lib/sender.ts';
import type { View } from '../lib/view.ts';

export const attemptsView = (attempts: readonly Attempt[], forPeople: boolean): View => ({
  json: toJson(attempts.map(document)),
  columns: [
    { name: 'attempt', kind: 'id' },
    { name: 'status', kind: 'state' },
    { name: 'at', kind: 'time', importance: 80 },
    { name: 'urls', kind: 'link', importance: 70 },
    { name: 'skus', importance: 50 },
    { name: 'by', importance: 30 },
    { name: 'order', importance: 40, uncut: true },
    { name: 'detail', importance: 60 },
  ],
  rows: attempts.map((each) => [
    String(each.attempt),
    each.status,
    each.at,
    forPeople ? shortened(each.urls) : each.urls.join(' '),
    each.skus.join(','),
    senderText(each.by),
    each.order,
    detailOf(each),
  ]),
  quiet: attempts.map(({ attempt }) => String(attempt)),
});

const NO_DETAIL = {
  unclear: 'begun, and no outcome written',
  'being sent': '',
  placed: '',
  refused: '',
} as const;

const detailOf = ({ status, detail, later }: Attempt): string =>
  [detail || NO_DETAIL[status], ...later.map(laterText)].filter(Boolean).join('; ');

const laterText = ({ order, tracked }: LaterOrder): string =>
  tracked
    ? `${order ? `order ${order} of it` : 'a file of it'} was taken in with track later`
    : `it was ordered again later${order ? ` as order ${order}` : ''}`;

const shortened = (urls: readonly string[]): string =>
  urls.length > 1 ? `${urls[0]} and ${urls.length - 1} more` : (urls[0] ?? '');

const document = ({ by, ...each }: Attempt) => ({
  attempt: each.attempt,
  status: each.status,
  at: each.at,
  urls: each.urls,
  skus: each.skus,
  by: { user: by.user || null, host: by.host || null, pid: by.pid || null, job: by.job || null },
  order: each.order || null,
  detail: detailOf({ by, ...each }) || null,
});

export const settledView = ({ attempt, status, order, audiofiles }: Settled): View => ({
  json: toJson({ attempt, status, order: order || null, audiofiles }),
  columns: [
    { name: 'attempt', kind: 'id' },
    { name: 'status', kind: 'state' },
    { name: 'order' },
    { name: 'audiofiles' },
  ],
  rows: [[String(attempt), status, order, audiofiles.join(',')]],
  quiet: audiofiles,
});
