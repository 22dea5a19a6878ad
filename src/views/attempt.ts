/** Orders, upgrades and refunds without a known end, as people and scripts read them. */
import type { Settled } from '../flows/orders/settle.ts';
import type { Attempt, LaterOrder } from '../ledger/open-attempts.ts';
import { type Json, toJson } from '../lib/json.ts';
import { type Sender, senderText } from '../lib/sender.ts';
import type { View } from '../lib/view.ts';
import { countField, listField, RecordType, textField, timeField } from './record.ts';
import { maybeInteger, maybeText, object, oneOf } from './schema.ts';

const kinds = oneOf('order', 'upgrade', 'refund');
const statuses = oneOf('unclear', 'being sent', 'placed', 'refused');

export const attemptRecord = new RecordType<Attempt>([
  countField('attempt', 'its number, for attempts settle', ({ attempt }) => attempt, { kind: 'id' }),
  textField('status', 'unclear, or being sent', ({ status }) => status, { kind: 'state', schema: statuses }),
  timeField('attempted_at', 'when it was begun', ({ at }) => at, { header: 'at', importance: 80 }),
  listField('urls', 'the audios of an order, or of the file', ({ urls }) => urls, {
    kind: 'link',
    separator: ' ',
    importance: 70,
  }),
  listField('skus', 'that were asked for', ({ skus }) => skus, { importance: 50 }),
  {
    name: 'by',
    help: 'who sends or sent it: user, host, process, CI job and its actor',
    importance: 30,
    schema: object({ user: maybeText, host: maybeText, pid: maybeInteger, job: maybeText, actor: maybeText }),
    json: ({ by, actor }) => byJson(by, actor),
    cell: ({ by }) => senderText(by),
  },
  textField('order', 'the id of the order, where one is known', ({ order }) => order, {
    importance: 40,
    uncut: true,
  }),
  textField('detail', 'what happened', (attempt) => detailOf(attempt), { importance: 60 }),
  textField('kind', 'order, upgrade or refund', ({ kind }) => kind, { importance: 75, schema: kinds }),
  listField('audiofiles', 'the files of it that are known', ({ files }) => files, { importance: 65 }),
  textField('via', 'the raw call, where it was one of steno api', ({ via }) => via, { importance: 20 }),
  listField('keys', 'what tells its audios from others in place of their URLs', ({ keys }) => keys, {
    importance: 15,
  }),
  listField(
    'sources',
    'the paths of its recordings, on the machine that uploaded them',
    ({ sources }) => sources,
    {
      separator: ' ',
      importance: 10,
    },
  ),
]);

const byJson = ({ user, host, pid, job }: Sender, actor: string): Json =>
  toJson({
    ...{ user: user || null, host: host || null, pid: pid || null, job: job || null },
    actor: actor || null,
  });

export function attemptsView(attempts: readonly Attempt[], forPeople: boolean): View {
  const shown = forPeople
    ? attempts.map((each) => ({ ...each, urls: [shortened(namesOf(each))] }))
    : attempts;
  return attemptRecord.view(shown, ({ attempt }) => String(attempt));
}

/** People know a recording by its path. */
const namesOf = ({ urls, sources }: Attempt): readonly string[] =>
  sources.length === urls.length ? sources : urls;

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
    ? `${order ? `its order ${order}` : 'a file of it'} was added with track later`
    : `it was ordered again later${order ? ` as order ${order}` : ''}`;

const shortened = (urls: readonly string[]): string =>
  urls.length > 1 ? `${urls[0]} and ${urls.length - 1} more` : (urls[0] ?? '');

export const settledRecord = new RecordType<Settled>([
  countField('attempt', 'its number', ({ attempt }) => attempt, { kind: 'id' }),
  textField('status', 'placed or not placed; after --reopen what it is now', ({ status }) => status, {
    kind: 'state',
    schema: oneOf('placed', 'not placed', 'unclear', 'being sent'),
  }),
  textField('order', 'the id of its order', ({ order }) => order),
  listField('audiofiles', 'ids of its files that are known', ({ audiofiles }) => audiofiles),
]);

export const settledView = (settled: Settled): View => ({
  ...settledRecord.view([settled], String),
  json: settledRecord.json(settled),
  quiet: settled.audiofiles,
});
