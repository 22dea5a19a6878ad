/** Purchases as people and scripts read them. */
import type { LogEntry, LoggedItem } from '../ledger/purchase-log.ts';
import { cutSignatures } from '../lib/audio-identity.ts';
import { type Json, JsonNumber, toJson } from '../lib/json.ts';
import { amountText, fromMillionths } from '../lib/money.ts';
import { userAndHost } from '../lib/sender.ts';
import type { View } from '../lib/view.ts';
import { countField, type Field, listField, RecordType, textField, timeField } from './record.ts';
import { arrayOf, boolean, maybeInteger, maybeText, nullable, number, object, oneOf } from './schema.ts';

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

const byJson = ({ by: { user, host, pid, job }, actor }: PricedEntry): Json =>
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
    json: byJson,
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
