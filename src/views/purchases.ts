/** Orders, upgrades and refunds without a known end, as people and scripts read them. */
import type { Settled } from '../flows/orders/settle.ts';
import type { Attempt, LaterOrder } from '../ledger/open-attempts.ts';
import type { LogEntry, LoggedItem } from '../ledger/purchase-log.ts';
import { cutSignatures } from '../lib/audio-identity.ts';
import { type Json, JsonNumber, toJson } from '../lib/json.ts';
import { amountText, fromMillionths } from '../lib/money.ts';
import { type Sender, senderText, userAndHost } from '../lib/sender.ts';
import type { View } from '../lib/view.ts';
import {
  arrayOf,
  boolean,
  countField,
  type Field,
  listField,
  maybeInteger,
  maybeText,
  nullable,
  number,
  object,
  oneOf,
  RecordType,
  textField,
  timeField,
} from './record.ts';

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

// Purchases as people and scripts read them.

/** An entry with what it cost, as far as that is known. */
interface PricedEntry extends LogEntry {
  readonly cost: number | undefined;
  readonly currency: string;
  readonly source: 'billed' | 'estimated' | 'unknown' | 'none';
  readonly unpaid: number | undefined;
}

/** What was refused, and what is a test, costs nothing. */
function priced(entry: LogEntry, currency: string): PricedEntry {
  const { items, status, test, kind } = entry;
  const currencies = new Set(items.flatMap((item) => item.currency || []));
  const own = [...currencies][0] ?? currency;
  const unpaid = items.map((item) => item.unpaid);
  const money = { currency: own, unpaid: unpaid.includes(null) ? undefined : sumOf(unpaid) };
  if (status === 'refused' || test) return { ...entry, ...money, unpaid: 0, cost: undefined, source: 'none' };
  // A refund that is not known to have gone through has returned nothing.
  if (kind === 'refund' && status !== 'placed')
    return { ...entry, ...money, cost: undefined, source: 'unknown' };
  const costs = items.map(costOf);
  if (items.length === 0 || costs.includes(null) || currencies.size > 1)
    return { ...entry, ...money, cost: undefined, source: 'unknown' };
  const cost = sumOf(costs);
  return {
    ...entry,
    ...money,
    cost,
    source: items.every(({ billed }) => billed !== null) ? 'billed' : 'estimated',
  };
}

const sumOf = (amounts: ReadonlyArray<number | null>): number =>
  amounts.reduce<number>((sum, each) => sum + Number(each), 0);

const costOf = ({ billed, estimate }: LoggedItem): number | null => billed ?? estimate;

const amount = (
  name: string,
  help: string,
  value: (entry: PricedEntry) => number | undefined,
  more: Partial<Field<PricedEntry>> = {},
): Field<PricedEntry> => {
  const textOf = (entry: PricedEntry): string | undefined => {
    const millionths = value(entry);
    return millionths === undefined ? undefined : amountText(fromMillionths(millionths));
  };
  return {
    ...{ name, help, kind: 'amount', schema: nullable(number) },
    json: (entry) => {
      const text = textOf(entry);
      return text === undefined ? null : new JsonNumber(text);
    },
    cell: (entry) => textOf(entry) ?? '',
    ...more,
  };
};

const unique = (texts: readonly string[]): string[] => [...new Set(texts.filter(Boolean))];

const logByJson = ({ by: { user, host, pid, job }, actor }: PricedEntry): Json =>
  toJson({
    user: user || null,
    host: host || null,
    pid: pid || null,
    job: job || null,
    actor: actor || null,
  });

const settlementJson = ({ placed, order, at, by, undoneAt, undoneBy }: LogEntry['settlements'][number]) => ({
  ...{ placed, order: order || null, at, by, undone_at: undoneAt, undone_by: undoneBy },
});

const settlementSchema = object({
  ...{
    placed: boolean,
    order: maybeText,
    at: maybeText,
    by: maybeText,
    undone_at: maybeText,
    undone_by: maybeText,
  },
});

export const logRecord = new RecordType<PricedEntry>([
  timeField('at', 'when it was sent', ({ at }) => at, { importance: 90 }),
  textField('kind', 'order, upgrade or refund', ({ kind }) => kind, {
    importance: 95,
    schema: oneOf('order', 'upgrade', 'refund'),
  }),
  textField('status', 'placed, refused, unclear, or being sent', ({ status }) => status, {
    kind: 'state',
    schema: oneOf('placed', 'refused', 'unclear', 'being sent'),
  }),
  amount(
    'cost',
    'what it cost; below zero for a refund; less what the service returned by itself',
    ({ cost }) => cost,
    { importance: 85 },
  ),
  textField('currency', 'of the cost', ({ currency, cost }) => (cost === undefined ? '' : currency), {
    importance: 60,
  }),
  textField(
    'cost_source',
    'billed, estimated, unknown, or none for what was not bought',
    ({ source }) => source,
    {
      importance: 70,
      schema: oneOf('billed', 'estimated', 'unknown', 'none'),
    },
  ),
  amount(
    'unpaid',
    'how much of it is billed and not paid yet; none until its invoice is read',
    ({ unpaid }) => unpaid,
    { importance: 10 },
  ),
  textField('order', 'the id of the order', ({ order }) => order, { importance: 50, uncut: true }),
  listField('audiofiles', 'ids of the files', ({ items }) => unique(items.map(({ file }) => file)), {
    importance: 55,
  }),
  listField('urls', 'the audios', ({ items }) => unique(items.map(({ url }) => cutSignatures(url))), {
    kind: 'link',
    separator: ' ',
    importance: 45,
  }),
  listField('skus', 'what was asked for', ({ skus }) => skus, { importance: 40 }),
  {
    ...{ name: 'by', help: 'who sent it: user, host, process, CI job and its actor', importance: 65 },
    schema: object({ user: maybeText, host: maybeText, pid: maybeInteger, job: maybeText, actor: maybeText }),
    json: logByJson,
    cell: (entry) => whoText(entry),
  },
  {
    ...{ name: 'test', help: 'it was a test, which costs nothing', importance: 15, schema: boolean },
    json: ({ test }) => test,
    cell: ({ test }) => (test ? 'test' : ''),
  },
  textField('via', 'the raw call, where it was one of steno api', ({ via }) => via, { importance: 12 }),
  textField('detail', 'what happened', ({ detail }) => detail, { importance: 30 }),
  countField('attempt', 'its number, for attempts settle', ({ attempt }) => attempt, { importance: 20 }),
  {
    ...{ name: 'settlements', help: 'what people said of it, and whether that was undone', importance: 25 },
    schema: arrayOf(settlementSchema),
    json: ({ settlements }) => toJson(settlements.map(settlementJson)),
    cell: ({ settlements }) => settlements.map(settlementText).join('; '),
  },
]);

const whoText = ({ actor, by }: PricedEntry): string =>
  [actor || userAndHost(by), by.job].filter(Boolean).join(', ');

const settlementText = ({ placed, order, by, undoneBy }: LogEntry['settlements'][number]): string => {
  const said = `settled as ${placed ? `placed${order ? ` (order ${order})` : ''}` : 'not placed'} by ${by}`;
  return undoneBy ? `${said}, undone by ${undoneBy}` : said;
};

/** A person is shown one audio; a program all of them. */
export function logView(entries: readonly LogEntry[], currency: string, forPeople: boolean): View {
  const rows = entries.map((entry) => priced(entry, currency));
  const shown = forPeople ? rows.map(forPerson) : rows;
  return logRecord.view(shown, ({ attempt }) => String(attempt));
}

function forPerson(entry: PricedEntry): PricedEntry {
  const { items } = entry;
  const [first] = items;
  const name = first ? first.title || first.url || first.file : '';
  const more = items.length > 1 ? ` and ${items.length - 1} more` : '';
  return { ...entry, items: first ? [{ ...first, url: `${name}${more}` }] : [] };
}
