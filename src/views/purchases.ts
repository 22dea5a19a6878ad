/** Orders, upgrades and refunds: those without a known end, and the log of all. */
import type { Settled } from '../flows/orders/settle.ts';
import type { Attempt, LaterOrder } from '../ledger/open-attempts.ts';
import type { LogEntry } from '../ledger/purchase-log.ts';
import { toJson } from '../lib/json.ts';
import { amountText, DEFAULT_CURRENCY, fromMillionths, sumOf } from '../lib/money.ts';
import { type Sender, senderText, userAndHost } from '../lib/sender.ts';
import { cutSignatures } from '../lib/signatures.ts';
import { shellWord } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import * as a from './fields.ts';
import { type Field, RecordType, ranked } from './record.ts';
import * as is from './schema.ts';

const kinds = is.oneOf('order', 'upgrade', 'refund');
const statuses = is.oneOf('unclear', 'being sent', 'placed', 'refused');

interface Sent {
  readonly by: Sender;
  readonly actor: string;
}

const senderRecord = new RecordType<Sent>([
  a.text('user', 'user name', ({ by }) => by.user),
  a.text('host', 'name of the machine', ({ by }) => by.host),
  a.text('pid', 'process id', ({ by }) => String(by.pid || ''), {
    schema: is.maybeInteger,
    json: ({ by }) => toJson(by.pid || null),
  }),
  a.text('job', 'the CI job', ({ by }) => by.job),
  a.text('actor', 'who started the CI job', 'actor'),
]);

const senderField = <T extends Sent>(cell: (sent: T) => string): Field<T> => ({
  name: 'by',
  help: 'who sent it: user, host, process, CI job and its actor',
  schema: senderRecord.schema,
  json: senderRecord.json,
  cell,
});

export const attemptRecord = ranked<Attempt>(
  'attempted_at kind urls audiofiles detail skus order by via keys sources',
  [
    a.count('attempt', 'number of the attempt, for attempts settle', 'attempt', { kind: 'id' }),
    a.text('status', 'unclear, or being sent', 'status', { kind: 'state', schema: statuses }),
    a.time('attempted_at', 'when it started', 'at', { header: 'at' }),
    a.list('urls', 'URLs of the order or of the file', 'urls', { kind: 'link', separator: ' ' }),
    a.list('skus', 'SKUs requested', 'skus'),
    senderField(({ by }) => senderText(by)),
    a.text('order', 'order id, if known', 'order', { uncut: true }),
    a.text('detail', 'what happened', (attempt) => detailOf(attempt)),
    a.text('kind', 'order, upgrade or refund', 'kind', { schema: kinds }),
    a.list('audiofiles', 'audiofile ids, as far as known', 'files'),
    a.text('via', 'raw call, if sent with steno api', 'via'),
    a.list('keys', 'keys that identify the audio instead of URLs', 'keys'),
    a.list('sources', 'paths of local recordings, on the machine that uploaded them', 'sources', {
      separator: ' ',
    }),
  ],
);

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

/** A person knows a recording by its path, and is shown one of several audios. */
export const attemptsView = (attempts: readonly Attempt[], isBrief: boolean): View =>
  attemptRecord.view(
    isBrief
      ? attempts.map((each) => {
          const { urls, sources } = each;
          return { ...each, urls: [fewOf(sources.length === urls.length ? sources : urls)] };
        })
      : attempts,
  );

const detailOf = ({ status, detail, later }: Attempt): string =>
  [detail || (status === 'unclear' && 'started, but no outcome recorded'), ...later.map(laterText)]
    .filter(Boolean)
    .join('; ');

const laterText = ({ order, tracked }: LaterOrder): string =>
  tracked
    ? `${order ? `its order ${order}` : 'a file of it'} was added with track later`
    : `it was ordered again later${order ? ` as order ${order}` : ''}`;

export const settledRecord = new RecordType<Settled>([
  a.count('attempt', 'number of the attempt', 'attempt', { kind: 'id' }),
  a.text('status', 'placed or not placed; after --reopen, the reopened status', 'status', {
    kind: 'state',
    schema: is.oneOf('placed', 'not placed', 'unclear', 'being sent'),
  }),
  a.text('order', 'order id', 'order'),
  a.list('audiofiles', 'audiofile ids, as far as known', 'audiofiles'),
]);

export const settledView = (settled: Settled): View =>
  settledRecord.page(settled, { quiet: settled.audiofiles });

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

const total = (amounts: ReadonlyArray<string | null>): string =>
  amountText(sumOf(amounts.map((each) => fromMillionths(BigInt(each ?? 0)))));

const unique = (texts: readonly string[]): string[] => [...new Set(texts.filter(Boolean))];

type Settlement = LogEntry['settlements'][number];

const settlementRecord = new RecordType<Settlement>([
  a.flag('placed', 'settled as placed, or as not placed', 'placed'),
  a.text('order', 'order id', 'order'),
  a.text('at', 'when', 'at'),
  a.text('by', 'by whom', 'by'),
  a.text('undone_at', 'when it was undone', 'undoneAt'),
  a.text('undone_by', 'by whom it was undone', 'undoneBy'),
]);

export const logRecord = ranked<PricedEntry>(
  'kind at cost cost_source by currency audiofiles order titles urls skus detail settlements attempt test via unpaid',
  [
    a.time('at', 'when it was sent', 'at'),
    a.text('kind', 'order, upgrade or refund', 'kind', { schema: kinds }),
    a.text('status', 'placed, refused, unclear, or being sent', 'status', {
      kind: 'state',
      schema: is.oneOf('placed', 'refused', 'unclear', 'being sent'),
    }),
    a.amount('cost', 'cost, less what the service returned on its own; negative for a refund', 'cost'),
    a.text('currency', 'currency of the cost', 'currency'),
    a.text('cost_source', 'billed, estimated, unknown, or none if nothing was bought', 'source', {
      schema: is.oneOf('billed', 'estimated', 'unknown', 'none'),
    }),
    a.amount('unpaid', 'amount billed but not paid yet; empty until the invoice is read', 'unpaid'),
    a.text('order', 'order id', 'order', { uncut: true }),
    a.list('audiofiles', 'audiofile ids', ({ items }) => unique(items.map(({ file }) => file))),
    a.list('urls', 'URLs of the audio', ({ items }) => unique(items.map(({ url }) => cutSignatures(url))), {
      kind: 'link',
      separator: ' ',
    }),
    a.list('titles', 'titles of the files', ({ items }) => unique(items.map(({ title }) => title)), {
      separator: '; ',
    }),
    a.list('skus', 'SKUs requested', 'skus'),
    senderField(whoText),
    a.flag('test', 'whether it was a test, which costs nothing', 'test'),
    a.text('via', 'raw call, if sent with steno api', 'via'),
    a.text('detail', 'what happened', 'detail'),
    a.count('attempt', 'number of the attempt, for attempts settle', 'attempt'),
    a.records('settlements', 'how people settled it', settlementRecord, 'settlements', {
      cell: ({ settlements }) => settlements.map(settlementText).join('; '),
    }),
  ],
);

function whoText({ actor, by }: Sent): string {
  return [actor || userAndHost(by), by.job].filter(Boolean).join(', ');
}

const settlementText = ({ placed, order, by, undoneBy }: Settlement): string => {
  const said = `settled as ${placed ? `placed${order ? ` (order ${order})` : ''}` : 'not placed'} by ${by}`;
  return undoneBy ? `${said}, undone by ${undoneBy}` : said;
};

/** A person is shown a few audios, and no order that was sent again in parts; a program all of them. */
export function logView(entries: readonly LogEntry[], currency: string, isBrief: boolean): View {
  const rows = entries.map((entry) => priced(entry, currency));
  const shown = isBrief ? withoutSplit(rows).map(forPerson) : rows;
  return logRecord.view(shown, { quiet: ({ attempt }) => String(attempt) });
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

/** An entry of the log in words. */
export interface Happened {
  readonly at: string;
  readonly what: string;
  readonly by: string;
  readonly text: string;
}

export const purchaseInWords = (entry: LogEntry, currency: string): Happened => {
  const { at, kind, cost, source, status, skus, test, detail, settlements, ...known } = priced(
    entry,
    currency,
  );
  const price = cost && `${cost} ${known.currency} (${source})`;
  const said = [status, skus.join(','), price, test && 'test', detail, ...settlements.map(settlementText)];
  return { at, what: kind, by: whoText(known), text: said.filter(Boolean).join('; ') };
};
