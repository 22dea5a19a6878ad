/** Attempts to order, as people and scripts read them. */
import type { Settled } from '../flows/orders/settle.ts';
import type { Attempt } from '../ledger/open-attempts.ts';
import { toJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';

export const attemptsView = (attempts: readonly Attempt[], forPeople: boolean): View => ({
  json: toJson(attempts.map(document)),
  columns: [
    { name: 'attempt', kind: 'id' },
    { name: 'status', kind: 'state' },
    { name: 'at', kind: 'time' },
    { name: 'urls', kind: 'link' },
    { name: 'skus' },
    { name: 'by' },
    { name: 'order' },
    { name: 'detail' },
  ],
  rows: attempts.map((each) => [
    String(each.attempt),
    each.status,
    each.at,
    forPeople ? shortened(each.urls) : each.urls.join(' '),
    each.skus.join(','),
    by(each),
    each.order,
    each.detail || NO_DETAIL[each.status],
  ]),
  quiet: attempts.map(({ attempt }) => String(attempt)),
});

const NO_DETAIL = {
  unclear: 'begun, and no outcome written',
  'being sent': '',
  placed: '',
  refused: '',
} as const;

const shortened = (urls: readonly string[]): string =>
  urls.length > 1 ? `${urls[0]} and ${urls.length - 1} more` : (urls[0] ?? '');

const by = ({ by: { user, host, pid } }: Attempt): string =>
  host ? `${user ? `${user}@` : ''}${host}, pid ${pid}` : '';

const document = ({ attempt, status, at, urls, skus, by: { user, host, pid }, order, detail }: Attempt) => ({
  attempt,
  status,
  at,
  urls,
  skus,
  by: { user: user || null, host: host || null, pid: pid || null },
  order: order || null,
  detail: detail || NO_DETAIL[status] || null,
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
