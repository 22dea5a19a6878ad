/** What was spent, by month, SKU and order. An amount that can't be read is counted as such, never as zero. */
import { productOf } from '../../catalog/skus.ts';
import { type BillLine, billFile } from '../../ledger/bill.ts';
import { totalOf } from '../../ledger/billing.ts';
import { Fraction, sumOf } from '../../lib/fraction.ts';
import { type Money, MoneySums, parseMoney, parseNumber } from '../../lib/money.ts';
import { parseServiceTime } from '../../lib/service-time.ts';
import type { ReportFile, ReportInput, ReportInvoice, ReportItem } from './input.ts';

/** One sum of a report: of a month, a SKU or an order, in one currency. */
export interface SpendRow {
  /** `2026-08`, a SKU or the id of an order; empty for what belongs to none. */
  readonly name: string;
  readonly currency: string;
  /** What was billed and paid, less what was refunded. */
  readonly spent: Fraction;
  /** Credits and refunds, as an amount above zero. */
  readonly refunded: Fraction;
  /** What was billed and is not paid yet. */
  readonly unpaid: Fraction;
  readonly minutes: Fraction;
  readonly files: number;
  /** How many of the files have no known length, and are not in `minutes`. */
  readonly unmeasured: number;
}

export interface Spend {
  readonly totals: readonly SpendRow[];
  readonly months: readonly SpendRow[];
  readonly skus: readonly SpendRow[];
  readonly orders: readonly SpendRow[];
  /** Invoices and files whose amount can't be read. */
  readonly unreadable: readonly string[];
  /** Delivered files of which nothing says what they cost. */
  readonly unpriced: number;
  /** Purchases that are not billed yet, and what they are expected to cost. */
  readonly unbilled: number;
  readonly estimated: readonly Money[];
}

interface Entry {
  readonly month: string;
  readonly sku: string;
  readonly order: string;
  readonly file: string;
  readonly currency: string;
  readonly paid: Fraction;
  readonly unpaid: Fraction;
  readonly refunded: Fraction;
}

type DatedEntry = Omit<Entry, 'month'> & { readonly at: string | undefined };

/** A line of an invoice, with what a report says of it. */
interface Line extends BillLine {
  readonly file: string;
  /** When the invoice was created; undefined where that can't be read. */
  readonly at: string | undefined;
}

export function spendOf(input: ReportInput): Spend {
  const unreadable: string[] = [];
  const isWanted = (at: string | undefined): boolean =>
    input.since === undefined || (at !== undefined && at >= input.since);
  const invoices = eachOnce(input.invoices);
  const currency = input.currency || onlyCurrency(input, invoices);
  const real = input.files.filter(({ test }) => !test);
  const lines = linesByFile(invoices, real, unreadable);
  const files = new Map(real.map((file) => [file.id, file]));
  const paid = new Set(invoices.filter(isPaid).map(({ id }) => id));
  const billed = real.map((file) => billOf(file, lines.get(file.id) ?? [], paid, unreadable));
  const others = [...lines].flatMap(([file, own]) =>
    files.has(file) ? [] : own.map((line) => entryOf(line)),
  );
  const dated = [...billed.flatMap(({ entries }) => entries), ...others];
  if (input.since !== undefined)
    for (const { id, created } of invoices)
      if (parseServiceTime(created) === undefined) unreadable.push(`invoice ${id}: its date`);
  const entries = dated
    .filter(({ at }) => isWanted(at))
    .map(({ at, ...entry }) => ({ ...entry, month: monthOf(at), currency: entry.currency || currency }));
  const rows = (name: (entry: Entry) => string): SpendRow[] => groups(entries, name, files);
  const wanted = billed.filter(({ file }) => isWanted(timeOf(file)));
  const estimates = new MoneySums();
  for (const { unbilled } of wanted) for (const each of unbilled) if (each) estimates.add(each);
  return {
    totals: rows(() => '').sort(byName),
    months: rows(({ month }) => month).sort(byName),
    skus: rows(({ sku }) => sku).sort(byAmount),
    orders: rows(({ order }) => order).sort(byAmount),
    unreadable,
    unpriced: wanted.filter(({ file, isKnown }) => file.ended === 'delivered' && !isKnown).length,
    unbilled: wanted.reduce((sum, { unbilled }) => sum + unbilled.length, 0),
    estimated: estimates.all(),
  };
}

/** One that was answered under several ids has one of its own. */
const eachOnce = (invoices: readonly ReportInvoice[]): ReportInvoice[] => [
  ...new Map(invoices.map((invoice) => [invoice.id, invoice])).values(),
];

const isPaid = ({ state }: ReportInvoice): boolean => state.toUpperCase() === 'PAID';

const timeOf = ({ deliveredAt, orderedAt }: ReportFile): string => deliveredAt || orderedAt;

const monthOf = (at: string | undefined): string => at?.slice(0, 7) ?? '';

/** Where all amounts that name a currency name the same, the others are in it too. */
function onlyCurrency({ files }: ReportInput, invoices: readonly ReportInvoice[]): string {
  const texts = [
    ...files.map(({ total }) => total),
    ...invoices.flatMap(({ total, items }) => [total, ...items.flatMap((item) => [item.total, item.price])]),
  ];
  const named = new Set(texts.flatMap((text) => parseMoney(text)?.currency || []));
  const [only = '', ...more] = named;
  return more.length ? '' : only;
}

/** The lines of all invoices, by file; those of no file under ''. */
function linesByFile(
  invoices: readonly ReportInvoice[],
  files: readonly ReportFile[],
  unreadable: string[],
): Map<string, Line[]> {
  const lines = new Map<string, Line[]>();
  for (const invoice of invoices)
    for (const line of linesOf(invoice, files, unreadable)) {
      const group = lines.get(line.file);
      if (group) group.push(line);
      else lines.set(line.file, [line]);
    }
  return lines;
}

function linesOf(invoice: ReportInvoice, files: readonly ReportFile[], unreadable: string[]): Line[] {
  const { id, created, total, items } = invoice;
  const [at, paid] = [parseServiceTime(created), isPaid(invoice)];
  const lines = items.map((item): Line => {
    const money = costOf(item);
    if (!money) unreadable.push(`invoice ${id}: ${item.sku || 'an item'}`);
    return {
      sku: item.sku,
      file: item.audiofile,
      at,
      paid,
      amount: money?.amount,
      currency: money?.currency ?? '',
    };
  });
  const all = parseMoney(total);
  if (total !== '' && !all) unreadable.push(`invoice ${id}: its total`);
  if (!all || lines.some(({ amount }) => !amount)) return lines;
  const [first] = lines;
  // Files whose cost is on the invoice, though no item of it names them, say it themselves.
  const named = first
    ? []
    : files.filter(({ invoices }) => invoices.includes(id)).map(({ total: own }) => totalOf(own));
  const explained = [...lines.map(({ amount }) => amount), ...named.map((money) => money?.amount)];
  const rest = all.amount.minus(sumOf(explained.map((amount) => amount ?? Fraction.zero)));
  if (rest.sign === 0 || (rest.sign < 0 && !first)) return lines;
  // What no item explains was billed all the same.
  return [
    ...lines,
    {
      sku: '',
      file: first?.file ?? '',
      at,
      paid,
      amount: rest,
      currency: all.currency || first?.currency || '',
    },
  ];
}

function costOf({ total, price, quantity }: ReportItem): Money | undefined {
  if (total !== '') return parseMoney(total);
  const [each, count] = [parseMoney(price), parseNumber(quantity)];
  return each && count && { ...each, amount: each.amount.times(count) };
}

interface BilledFile {
  readonly file: ReportFile;
  readonly entries: readonly DatedEntry[];
  /** What its order costs is known. */
  readonly isKnown: boolean;
  /** What its purchases without a bill are expected to cost. */
  readonly unbilled: ReadonlyArray<Money | undefined>;
}

function billOf(
  file: ReportFile,
  lines: readonly Line[],
  paid: ReadonlySet<string>,
  unreadable: string[],
): BilledFile {
  const currencies = new Set(lines.flatMap(({ currency }) => currency || []));
  // Dollars and euros are never added up: each line stands for itself.
  if (currencies.size > 1)
    return { file, isKnown: true, unbilled: [], entries: lines.map((line) => entryOf(line, file.order)) };
  const total = totalOf(file.total);
  if (!lines.length && file.total !== '' && !parseMoney(file.total))
    unreadable.push(`file ${file.id}: its total`);
  const bills = billFile({
    lines,
    items: file.bought.map(({ skus, totalBefore }) => ({ skus, totalBefore: totalOf(totalBefore)?.amount })),
    total,
    totalIsPaid: file.invoices.every((id) => paid.has(id)),
    isRefunded: file.isRefunded || file.state === 'Refunded',
    isCancelled: file.state === 'Order Cancelled',
  });
  const entries = bills.flatMap(({ parts, currency }, at) =>
    parts.map((part) => ({
      ...{ paid: part.paid, unpaid: part.unpaid, refunded: part.refunded },
      // What each of several SKUs cost is not known: they are shown as one.
      sku: part.line ? productOf(part.line.sku) : joined(file.bought[at]?.skus ?? []),
      ...{ order: file.order, file: file.id, currency },
      at: part.line ? part.line.at : timeOf(file),
    })),
  );
  const unbilled = file.bought.flatMap(({ estimate }, at) => (bills[at]?.isKnown ? [] : [estimate]));
  return { file, entries, isKnown: bills[0]?.isKnown ?? false, unbilled };
}

const joined = (skus: readonly string[]): string => [...new Set(skus.map(productOf))].join('+');

/** A line that stands for itself: of a file that the ledger does not know. */
function entryOf({ sku, file, at, paid, amount = Fraction.zero, currency }: Line, order = ''): DatedEntry {
  const isCredit = amount.sign < 0;
  return {
    ...{ sku: productOf(sku), file, at, currency, order },
    paid: paid && !isCredit ? amount : Fraction.zero,
    unpaid: paid ? Fraction.zero : amount,
    refunded: paid && isCredit ? Fraction.zero.minus(amount) : Fraction.zero,
  };
}

function groups(
  entries: readonly Entry[],
  name: (entry: Entry) => string,
  files: ReadonlyMap<string, ReportFile>,
): SpendRow[] {
  const found = new Map<string, Entry[]>();
  for (const entry of entries) {
    const key = JSON.stringify([name(entry), entry.currency]);
    const group = found.get(key);
    if (group) group.push(entry);
    else found.set(key, [entry]);
  }
  return [...found].map(([key, group]) => {
    const [label = '', currency = ''] = JSON.parse(key) as string[];
    return { name: label, currency, ...sums(group), ...lengths(group, files) };
  });
}

function sums(entries: readonly Entry[]): Pick<SpendRow, 'spent' | 'refunded' | 'unpaid'> {
  const refunded = sumOf(entries.map((entry) => entry.refunded));
  return {
    spent: sumOf(entries.map(({ paid }) => paid)).minus(refunded),
    refunded,
    unpaid: sumOf(entries.map(({ unpaid }) => unpaid)),
  };
}

/** Each file once, however many SKUs it was billed with. */
function lengths(
  entries: readonly Entry[],
  files: ReadonlyMap<string, ReportFile>,
): Pick<SpendRow, 'minutes' | 'files' | 'unmeasured'> {
  const isBilled = ({ file, paid, unpaid }: Entry): boolean =>
    file !== '' && (paid.sign > 0 || unpaid.sign > 0);
  const ids = new Set(entries.filter(isBilled).map(({ file }) => file));
  let [minutes, unmeasured] = [Fraction.zero, 0];
  for (const id of ids) {
    const length = parseNumber(files.get(id)?.duration ?? '');
    if (length && length.sign > 0) minutes = minutes.plus(length);
    else unmeasured += 1;
  }
  return { minutes, files: ids.size, unmeasured };
}

/** What has no name comes last. */
const byName = (one: SpendRow, other: SpendRow): number =>
  Number(!one.name) - Number(!other.name) ||
  compareTexts(one.name, other.name) ||
  compareTexts(one.currency, other.currency);

const byAmount = (one: SpendRow, other: SpendRow): number =>
  compareTexts(one.currency, other.currency) || other.spent.compare(one.spent) || byName(one, other);

const compareTexts = (one: string, other: string): number => Number(one > other) - Number(one < other);
