/** The file document: what `files`, `file`, `order`, `wait`, `track`, `upgrade` and `refund` print of each file. */
import type { ShownFile } from '../flows/files/shown.ts';
import type { FileRow } from '../ledger/files.ts';
import { leftOutReasons } from '../lib/errors.ts';
import { type Json, parseJson } from '../lib/json.ts';
import { type OrderedBy, userAndHost } from '../lib/sender.ts';
import { amountJson, currencyOf } from './amounts.ts';
import { downloadJson, downloadRecord } from './download-record.ts';
import { errorField } from './error-schema.ts';
import { answerField, listField, RecordType, textField, timeField } from './record.ts';
import { arrayOf, boolean, maybeNumber, maybeText, nullable, object, oneOf } from './schema.ts';

export const fileRecord = new RecordType<ShownFile>([
  textField('audiofile', "the file's id; null where the service's answer names none", ({ row }) => row.id, {
    header: 'id',
    kind: 'id',
  }),
  textField(
    'state',
    'as the service names it; null (in rows: ordered) where it was not asked yet',
    ({ row }) => row.state,
    { kind: 'state', cell: ({ row, error }) => row.state || (error && !row.id ? '' : 'ordered') },
  ),
  textField('title', "of the audio; of an episode, the feed's", ({ row }) => row.title, { importance: 90 }),
  {
    name: 'minutes',
    help: 'how long the audio is',
    header: 'length',
    kind: 'minutes',
    importance: 50,
    schema: maybeNumber,
    json: ({ row }) => amountJson(row.minutes),
    cell: ({ row }) => row.minutes,
  },
  {
    name: 'total',
    help: 'what it costs, to the digit',
    kind: 'amount',
    importance: 60,
    schema: maybeNumber,
    json: ({ row }) => amountJson(row.total),
    cell: ({ row }) => row.total,
  },
  textField('order', 'the id of its order', ({ row }) => row.order_id, { importance: 40, uncut: true }),
  timeField('ordered_at', 'when it was ordered, or taken in with track', ({ row }) => row.ordered_at, {
    header: 'ordered',
    importance: 80,
  }),
  timeField('changed_at', 'when its state was last seen to change', ({ row }) => row.changed_at, {
    header: 'changed',
    importance: 30,
  }),
  textField('url', 'of the audio, without signatures', ({ row }) => row.url, {
    kind: 'link',
    importance: 70,
  }),
  textField('key', 'what tells its audio from others in place of the URL', ({ row }) => row.key, {
    importance: 20,
  }),
  {
    name: 'by',
    help: 'who ordered it: the actor of the CI job, or user and host',
    importance: 25,
    schema: nullable(object({ user: maybeText, host: maybeText, job: maybeText, actor: maybeText })),
    json: ({ row }) => byJson(row),
    cell: ({ row }) => row.actor || userAndHost(senderOf(row)),
  },
  {
    name: 'job',
    help: 'the CI job that ordered it',
    kind: 'link',
    importance: 10,
    schema: maybeText,
    cell: ({ row }) => row.job ?? '',
  },
  textField('currency', 'of the total, where it is known', ({ row, currency }) =>
    currencyOf(row.total, currency),
  ),
  listField('skus', 'of its order', ({ row }) => split(row.skus, ',')),
  textField('hold', 'why its order is on hold', ({ row }) => holdOf(row)),
  {
    name: 'test',
    help: 'whether it is a test order, which is not transcribed (in rows: test)',
    schema: boolean,
    json: ({ row }) => row.test === 1,
    cell: ({ row }) => (row.test ? 'test' : ''),
  },
  textField(
    'ended',
    'delivered, or unfinished: no transcript comes; null while it may change',
    ({ row }) => row.ended,
    {
      schema: nullable(oneOf('delivered', 'unfinished')),
    },
  ),
  timeField('checked_at', 'when the service was last asked about it', ({ row }) => row.checked_at),
  timeField('heard_at', 'when the last event named it', ({ row }) => row.heard_at),
  listField('invoices', 'ids of its invoices', ({ row }) => split(row.invoices, ',')),
  {
    name: 'downloads',
    help: 'its transcripts that were downloaded (in rows: their paths)',
    schema: arrayOf(downloadRecord.schema),
    json: ({ downloads }) => downloads.map(downloadJson),
    cell: ({ downloads }) => downloads.map(({ path }) => path).join(','),
  },
  listField('names', 'of the speakers', ({ row }) => split(row.names, '|'), {
    separator: '|',
  }),
  textField('notes', 'for the transcriber', ({ row }) => row.notes),
  textField('remark', 'what events said of it since the service was asked', ({ row }) => remarkOf(row)),
  listField('tags', 'what it is filed under', ({ row }) => row.audio.tags ?? [], { separator: '|' }),
  textField('feed', 'the feed that it comes from: its title', ({ row }) => row.audio.feed),
  textField('guid', "the feed's name for the episode", ({ row }) => row.audio.guid),
  textField('link', 'the page of the episode', ({ row }) => row.audio.link, { kind: 'link' }),
  timeField('published_at', 'when the episode came out', ({ row }) => row.audio.published),
  textField(
    'source',
    'the path of a recording on the machine that uploaded it',
    ({ row }) => row.audio.source,
  ),
  answerField(answerOf),
  {
    name: 'left_out',
    help: 'why it was not ordered now',
    schema: oneOf(...leftOutReasons),
    json: ({ leftOut }) => leftOut ?? null,
    cell: false,
    optional: true,
  },
  errorField(({ error }) => error),
]);

const split = (text: string | null, separator: string): string[] => (text ? text.split(separator) : []);

export const senderOf = ({ user, host, job }: FileRow): OrderedBy => ({
  ...{ user: user ?? '', host: host ?? '', job: job ?? '' },
});

function byJson({ user, host, job, actor }: FileRow): Json {
  if (!host) return null;
  return new Map([
    ['user', user || null],
    ['host', host],
    ['job', job || null],
    ['actor', actor || null],
  ]);
}

/** What an event says of the state is a remark, until the service has said it. */
const remarkOf = ({ hint, remark }: FileRow): string => [hint, remark].filter(Boolean).join('; ');

/** Why its order is on hold; a file that has ended is not on hold any more. */
const holdOf = (row: FileRow): string => (row.ended ? '' : (row.hold ?? ''));

/** As text where it is no JSON any more because a secret was masked in it. */
function answerOf({ answer, row }: ShownFile): Json {
  if (answer !== undefined) return answer;
  try {
    return row.answer === null ? null : parseJson(row.answer);
  } catch {
    return row.answer;
  }
}
