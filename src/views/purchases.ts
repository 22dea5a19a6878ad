/** Orders, upgrades and refunds: those without a known end, and the log of all. */
import type { Settled } from '../flows/orders/settle.ts';
import type { Attempt, LaterOrder } from '../ledger/open-attempts.ts';
import type { LogEntry } from '../ledger/purchase-log.ts';
import { amountText, DEFAULT_CURRENCY, fromMillionths, sumOf } from '../lib/money.ts';
import { type Sender, senderText, userAndHost } from '../lib/sender.ts';
import { cutSignatures } from '../lib/signatures.ts';
import { shellWord } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import { amountField } from './money.ts';
import { countField, documentOf, flagField, listField, RecordType, textField, timeField } from './record.ts';
import * as is from './schema.ts';

const kinds = is.oneOf('order', 'upgrade', 'refund');
const statuses = is.oneOf('unclear', 'being sent', 'placed', 'refused');

const sender = documentOf<{ readonly by: Sender; readonly actor: string }>({
  user: [is.maybeText, ({ by }) => by.user || null],
  host: [is.maybeText, ({ by }) => by.host || null],
  pid: [is.maybeInteger, ({ by }) => by.pid || null],
  job: [is.maybeText, ({ by }) => by.job || null],
  actor: [is.maybeText, ({ actor }) => actor || null],
});

export const attemptRecord = new RecordType<Attempt>([
  countField('attempt', 'number of the attempt, for attempts settle', 'attempt', { kind: 'id' }),
  textField('status', 'unclear, or being sent', 'status', { kind: 'state', schema: statuses }),
  timeField('attempted_at', 'when it started', 'at', { header: 'at', importance: 80 }),
  listField('urls', 'URLs of the order or of the file', 'urls', {
    kind: 'link',
    separator: ' ',
    importance: 70,
  }),
  listField('skus', 'SKUs requested', 'skus', { importance: 50 }),
  {
    ...{ name: 'by', help: 'who sends or sent it: user, host, process, CI job and its actor' },
    ...{ importance: 30, schema: sender.schema, json: sender.json, cell: ({ by }) => senderText(by) },
  },
  textField('order', 'order id, if known', 'order', { importance: 40, uncut: true }),
  textField('detail', 'what happened', (attempt) => detailOf(attempt), { importance: 60 }),
  textField('kind', 'order, upgrade or refund', 'kind', { importance: 75, schema: kinds }),
  listField('audiofiles', 'audiofile ids, as far as known', 'files', { importance: 65 }),
  textField('via', 'raw call, if sent with steno api', 'via', { importance: 20 }),
  listField('keys', 'keys that identify the audio instead of URLs', 'keys', { importance: 15 }),
  listField('sources', 'paths of local recordings, on the machine that uploaded them', 'sources', {
    separator: ' ',
    importance: 10,
  }),
]);

/** The lines that settle an attempt, once a person has looked. A shell refuses `<order>`, where the id is to be put. */
export function settleLines(
  { attempt, status, kind, order, isAccepted }: Attempt,
  command: string,
): string[] {
  if (status === 'being sent') return [];
  const placed = kind === 'order' ? `--placed ${order ? shellWord(order) : '<order>'}` : '--placed';
  const ends = isAccepted ? [placed] : [placed, '--not-placed'];
  return ends.map((end) => `${command} attempts settle ${attempt} ${end}`);
}

export function attemptsView(attempts: readonly Attempt[], isBrief: boolean): View {
  const shown = isBrief ? attempts.map((each) => ({ ...each, urls: [shortened(namesOf(each))] })) : attempts;
  return attemptRecord.view(shown);
}

/** People know a recording by its path. */
const namesOf = ({ urls, sources }: Attempt): readonly string[] =>
  sources.length === urls.length ? sources : urls;

const detailOf = ({ status, detail, later }: Attempt): string =>
  [detail || (status === 'unclear' && 'started, but no outcome recorded'), ...later.map(laterText)]
    .filter(Boolean)
    .join('; ');

const laterText = ({ order, tracked }: LaterOrder): string =>
  tracked
    ? `${order ? `its order ${order}` : 'a file of it'} was added with track later`
    : `it was ordered again later${order ? ` as order ${order}` : ''}`;

const shortened = (urls: readonly string[]): string =>
  urls.length > 1 ? `${urls[0]} and ${urls.length - 1} more` : (urls[0] ?? '');

export const settledRecord = new RecordType<Settled>([
  countField('attempt', 'number of the attempt', 'attempt', { kind: 'id' }),
  textField('status', 'placed or not placed; after --reopen, the reopened status', 'status', {
    kind: 'state',
    schema: is.oneOf('placed', 'not placed', 'unclear', 'being sent'),
  }),
  textField('order', 'order id', 'order'),
  listField('audiofiles', 'audiofile ids, as far as known', 'audiofiles'),
]);

export const settledView = (settled: Settled): View => ({
  ...settledRecord.page(settled),
  quiet: settled.audiofiles,
});

/** An entry with what it cost, as far as that is known. */
interface PricedEntry extends LogEntry {
  readonly cost: string;
  readonly currency: string;
  readonly source: 'billed' | 'estimated' | 'unknown' | 'none';
  readonly unpaid: string;
}

function priced(entry: LogEntry, currency: string): PricedEntry {
  const { items, status, test, kind } = entry;
  const currencies = new Set(items.flatMap((item) => item.currency || []));
  const unpaid = items.map((item) => item.unpaid);
  const known = {
    ...{ ...entry, cost: '', currency: [...currencies][0] || currency || DEFAULT_CURRENCY },
    unpaid: unpaid.includes(null) ? '' : total(unpaid),
  };
  // What was refused, and what is a test, costs nothing.
  if (status === 'refused' || test) return { ...known, unpaid: total([]), source: 'none' };
  // A refund that is not known to have gone through has returned nothing.
  if (kind === 'refund' && status !== 'placed') return { ...known, source: 'unknown' };
  const costs = items.map(({ billed, estimate }) => billed ?? estimate);
  if (items.length === 0 || costs.includes(null) || currencies.size > 1)
    return { ...known, source: 'unknown' };
  const isBilled = items.every(({ billed }) => billed !== null);
  return { ...known, cost: total(costs), source: isBilled ? 'billed' : 'estimated' };
}

const total = (amounts: ReadonlyArray<number | null>): string =>
  amountText(sumOf(amounts.map((each) => fromMillionths(each ?? 0))));

const unique = (texts: readonly string[]): string[] => [...new Set(texts.filter(Boolean))];

type Settlement = LogEntry['settlements'][number];

const settlement = documentOf<Settlement>({
  placed: [is.boolean, 'placed'],
  order: [is.maybeText, ({ order }) => order || null],
  at: [is.maybeText, 'at'],
  by: [is.maybeText, 'by'],
  undone_at: [is.maybeText, 'undoneAt'],
  undone_by: [is.maybeText, 'undoneBy'],
});

export const logRecord = new RecordType<PricedEntry>([
  timeField('at', 'when it was sent', 'at', { importance: 90 }),
  textField('kind', 'order, upgrade or refund', 'kind', { importance: 95, schema: kinds }),
  textField('status', 'placed, refused, unclear, or being sent', 'status', {
    kind: 'state',
    schema: is.oneOf('placed', 'refused', 'unclear', 'being sent'),
  }),
  amountField(
    'cost',
    'cost, less anything that the service returned on its own; negative for a refund',
    'cost',
    { importance: 85 },
  ),
  textField('currency', 'currency of the cost', 'currency', { importance: 60 }),
  textField('cost_source', 'billed, estimated, unknown, or none if nothing was bought', 'source', {
    importance: 70,
    schema: is.oneOf('billed', 'estimated', 'unknown', 'none'),
  }),
  amountField('unpaid', 'amount billed but not paid yet; empty until the invoice is read', 'unpaid', {
    importance: 10,
  }),
  textField('order', 'order id', 'order', { importance: 50, uncut: true }),
  listField('audiofiles', 'audiofile ids', ({ items }) => unique(items.map(({ file }) => file)), {
    importance: 55,
  }),
  listField('urls', 'URLs of the audio', ({ items }) => unique(items.map(({ url }) => cutSignatures(url))), {
    kind: 'link',
    separator: ' ',
    importance: 45,
  }),
  listField('titles', 'titles of the files', ({ items }) => unique(items.map(({ title }) => title)), {
    separator: '; ',
    importance: 48,
  }),
  listField('skus', 'SKUs requested', 'skus', { importance: 40 }),
  {
    ...{ name: 'by', help: 'who sent it: user, host, process, CI job and its actor', importance: 65 },
    ...{ schema: sender.schema, json: sender.json, cell: (entry) => whoText(entry) },
  },
  flagField('test', 'whether it was a test, which costs nothing', 'test', { importance: 15 }),
  textField('via', 'raw call, if sent with steno api', 'via', { importance: 12 }),
  textField('detail', 'what happened', 'detail', { importance: 30 }),
  countField('attempt', 'number of the attempt, for attempts settle', 'attempt', { importance: 20 }),
  {
    ...{ name: 'settlements', help: 'how people settled it, and whether that was undone', importance: 25 },
    schema: is.arrayOf(settlement.schema),
    json: ({ settlements }) => settlements.map(settlement.json),
    cell: ({ settlements }) => settlements.map(settlementText).join('; '),
  },
]);

const whoText = ({ actor, by }: PricedEntry): string =>
  [actor || userAndHost(by), by.job].filter(Boolean).join(', ');

const settlementText = ({ placed, order, by, undoneBy }: Settlement): string => {
  const said = `settled as ${placed ? `placed${order ? ` (order ${order})` : ''}` : 'not placed'} by ${by}`;
  return undoneBy ? `${said}, undone by ${undoneBy}` : said;
};

/** A person is shown a few audios, and no order that was sent again in parts; a program all of them. */
export function logView(entries: readonly LogEntry[], currency: string, isBrief: boolean): View {
  const rows = entries.map((entry) => priced(entry, currency));
  const shown = isBrief ? withoutSplit(rows).map(forPerson) : rows;
  return logRecord.view(shown, ({ attempt }) => String(attempt));
}

/** Newest first: what was refused as a whole, and each part of it sent again, is told by the parts. */
function withoutSplit(entries: readonly PricedEntry[]): PricedEntry[] {
  const sentLater = new Set<string>();
  return entries.filter(({ status, items }) => {
    const urls = items.map(({ url }) => url);
    const isSplit = status === 'refused' && urls.length > 1 && urls.every((url) => sentLater.has(url));
    for (const url of urls) sentLater.add(url);
    return !isSplit;
  });
}

function forPerson(entry: PricedEntry): PricedEntry {
  const { items } = entry;
  const [first] = items;
  const few = (name: 'url' | 'file' | 'title'): string => fewOf(unique(items.map((item) => item[name])));
  return {
    ...entry,
    items: first ? [{ ...first, url: few('url'), file: few('file'), title: few('title') }] : [],
  };
}

const fewOf = ([first = '', ...more]: readonly string[]): string =>
  more.length ? `${first} and ${more.length} more` : first;
