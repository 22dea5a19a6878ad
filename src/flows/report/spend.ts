/** What was spent, by month, SKU and order. An amount that can't be read is counted as such, never as zero. */
import { productOf } from '../../catalog/skus.ts';
import { type BillLine, billFile } from '../../ledger/bill.ts';
import { paymentOf, type ReadInvoice, sharedBy, totalOf } from '../../ledger/billing.ts';
import {
  DEFAULT_CURRENCY,
  Fraction,
  type Money,
  MoneySums,
  parseMoney,
  parseNumber,
  sumOf,
} from '../../lib/money.ts';
import { parseServiceTime } from '../../lib/time.ts';
import { groupBy } from '../bulk.ts';
import { linesOf } from '../prices/invoices.ts';
import { type Bought, isWithin, type ReportFile, type ReportInput, type ReportInvoice } from './gather.ts';

/** One sum of a report: of a month, a SKU, an order and the like, in one currency. */
export interface SpendRow {
  /** `2026-08`, a SKU, the id of an order, `radio + tv`; empty for what belongs to none. */
  readonly name: string;
  readonly currency: string;
  /** What was billed and paid, less what was refunded. */
  readonly spent: Fraction;
  /** Credits and refunds, as an amount above zero. */
  readonly refunded: Fraction;
  /** What was billed and is not paid yet. */
  readonly unpaid: Fraction;
  /** What purchases that are not billed yet are expected to cost, as far as that is known; and how many there are. */
  readonly estimated: Fraction;
  readonly unbilled: number;
  /** Of what was billed. */
  readonly minutes: Fraction;
  readonly files: number;
  /** How many of the files have no known length, and are not in `minutes`. */
  readonly unmeasured: number;
}

export type Spend = ReturnType<typeof spendOf>;

interface Entry {
  readonly month: string;
  readonly sku: string;
  readonly order: string;
  readonly person: string;
  readonly invoice: string;
  readonly file: string;
  readonly currency: string;
  readonly paid: Fraction;
  readonly unpaid: Fraction;
  readonly unread: Fraction;
  readonly refunded: Fraction;
  readonly estimated: Fraction;
  readonly isUnbilled: boolean;
}

type DatedEntry = Omit<Entry, 'month'> & { readonly at: string | undefined };

/** A line of an invoice, with what a report says of it. */
interface Line extends BillLine {
  readonly file: string;
  /** The own id of the invoice. */
  readonly invoice: string;
  /** When the invoice was created; undefined where that can't be read. */
  readonly at: string | undefined;
}

export function spendOf(input: ReportInput) {
  const unreadable: string[] = [];
  const invoices = eachOnce(input.invoices);
  const currency = input.currency || onlyCurrency(input, invoices) || DEFAULT_CURRENCY;
  const real = input.files.filter(({ test }) => !test);
  const lines = linesByFile(invoices, namingFiles(real, input.invoices));
  for (const { id, total } of invoices)
    if (total !== '' && !parseMoney(total)) unreadable.push(`invoice ${id}: its total`);
  const files = new Map(real.map((file) => [file.id, file]));
  const read = new Map(input.invoices.map((invoice) => [invoice.askedAs, readForm(invoice)]));
  const billed = real.map((file) => billOf(file, lines.get(file.id) ?? [], read, unreadable));
  const others = [...lines].flatMap(([file, own]) =>
    files.has(file) ? [] : entriesOf(own, undefined, unreadable),
  );
  const unbilled = billed.flatMap(unbilledEntries);
  const dated = [...billed.flatMap(({ entries }) => entries), ...others, ...unbilled];
  if (input.since !== undefined || input.until !== undefined)
    for (const { id, created } of invoices)
      if (parseServiceTime(created) === undefined) unreadable.push(`invoice ${id}: its date`);
  const entries = dated
    .filter(({ at }) => isWithin(input, at))
    .map(({ at, ...entry }) => ({ ...entry, month: monthOf(at), currency: entry.currency || currency }));
  const rows = (name: (entry: Entry) => string): SpendRow[] => groups(entries, name, files);
  return {
    totals: rows(() => '').sort(byName),
    // Every entry is in one row of each, so that the rows add up to the totals.
    groups: {
      month: rows(({ month }) => month).sort(byName),
      sku: rows(({ sku }) => sku).sort(byAmount),
      order: rows(({ order }) => order).sort(byAmount),
      feed: rows(({ file }) => files.get(file)?.feed ?? '').sort(byAmount),
      tag: rows(({ file }) => tagsText(files.get(file))).sort(byAmount),
      person: rows(({ person }) => person).sort(byAmount),
      invoice: rows(({ invoice }) => invoice).sort(byAmount),
    },
    unreadable,
    ...unbilledOf(billed, input, currency),
    // What may be paid or not, because its invoice was not read: it is in no sum.
    unread: unreadIn(entries),
  };
}

/** Delivered files of which nothing says what they cost; and other purchases without a bill, by what is estimated. */
function unbilledOf(billed: readonly BilledFile[], input: ReportInput, currency: string) {
  const isUnpriced = ({ file, isKnown, unbilled: [first] }: BilledFile): boolean =>
    file.ended === 'delivered' && !isKnown && first !== undefined && isWithin(input, first.at);
  const others = billed
    .flatMap((each) => each.unbilled.slice(Number(isUnpriced(each))))
    .filter(({ at }) => isWithin(input, at));
  const estimates = new MoneySums();
  for (const { estimate } of others)
    if (estimate) estimates.add({ ...estimate, currency: estimate.currency || currency });
  return {
    unpriced: billed.filter(isUnpriced).length,
    unbilled: others.length,
    unestimated: others.filter(({ estimate }) => !estimate).length,
    estimated: estimates.all(),
  };
}

function unreadIn(entries: readonly Entry[]): Money[] {
  const sums = new MoneySums();
  for (const { unread: amount, currency } of entries) if (amount.sign) sums.add({ amount, currency });
  return sums.all();
}

/** Files with the same tags, in any order, are one group. */
const tagsText = (file: ReportFile | undefined): string => [...(file?.tags ?? [])].sort().join(' + ');

/** One that was answered under several ids has one of its own: the latest answer counts. */
const eachOnce = (invoices: readonly ReportInvoice[]): ReportInvoice[] =>
  [...new Map(invoices.map((invoice) => [invoice.id, invoice])).values()].sort((one, other) =>
    compareTexts(one.id, other.id),
  );

/** The files that name each invoice, by its own id. */
function namingFiles(
  files: readonly ReportFile[],
  invoices: readonly ReportInvoice[],
): Map<string, Set<ReportFile>> {
  const ownIds = new Map(invoices.map(({ id, askedAs }) => [askedAs, id]));
  const naming = new Map<string, Set<ReportFile>>();
  for (const file of files)
    for (const name of file.invoices) {
      const id = ownIds.get(name) ?? name;
      const group = naming.get(id);
      if (group) group.add(file);
      else naming.set(id, new Set([file]));
    }
  return naming;
}

const isPaid = ({ state }: ReportInvoice): boolean => state.toUpperCase() === 'PAID';

const readForm = (invoice: ReportInvoice): ReadInvoice => ({
  ...{ ownId: invoice.id, isPaid: isPaid(invoice), isFinal: invoice.isFinal },
});

const isRefunded = ({ bought }: ReportFile): boolean => bought.some(({ refund }) => refund);

const timeOf = ({ deliveredAt, orderedAt }: ReportFile): string => deliveredAt || orderedAt;

const monthOf = (at: string | undefined): string => at?.slice(0, 7) ?? '';

/** Where all amounts that name a currency name the same, the others are in it too. */
function onlyCurrency({ files }: ReportInput, invoices: readonly ReportInvoice[]): string {
  const texts = [
    ...files.map(({ total }) => total),
    ...invoices.flatMap(({ total, items }) => [total, ...items.flatMap((item) => [item.total, item.price])]),
  ];
  const estimates = files.flatMap(({ bought }) => bought.flatMap(({ estimate }) => estimate ?? []));
  const named = new Set(
    [...texts.map((text) => parseMoney(text)), ...estimates].flatMap((money) => money?.currency || []),
  );
  const [only = '', ...more] = named;
  return more.length ? '' : only;
}

/** The lines of all invoices, by file; those of no file, where no file names the invoice, under ''. */
function linesByFile(
  invoices: readonly ReportInvoice[],
  naming: ReadonlyMap<string, Iterable<ReportFile>>,
): Map<string, Line[]> {
  const lines = invoices.flatMap((invoice) => {
    const { id, created } = invoice;
    const [at, paid] = [parseServiceTime(created), isPaid(invoice)];
    const files = [...(naming.get(id) ?? [])];
    const hasItems = invoice.items.length > 0;
    const all = (hasItems ? linesOf(invoice) : unexplained(invoice, files)).map(
      ({ file, sku, cost }): Line => ({
        ...{ file, sku, invoice: id, at, paid, amount: cost?.amount, currency: cost?.currency ?? '' },
      }),
    );
    const isShared = ({ file }: Line): boolean => file === '' && hasItems && files.length > 0;
    const ids = files.map((file) => file.id);
    return all.flatMap((each) => (isShared(each) ? sharedBy(each, ids) : [each]));
  });
  return groupBy(lines, ({ file }) => file);
}

/** What the total of an invoice without items has more than the files that name it. */
function unexplained({ total }: ReportInvoice, naming: Iterable<ReportFile>): ReturnType<typeof linesOf> {
  const all = parseMoney(total);
  if (!all) return [];
  const silent = [...naming].filter(({ total: own }) => !totalOf(own));
  const explained = [...naming].map((file) => totalOf(file.total)?.amount ?? Fraction.zero);
  const amount = all.amount.minus(sumOf(explained));
  // What is left is of files that say no total, and it came back.
  if (silent.length && silent.every(isRefunded)) return [];
  return amount.sign > 0 ? [{ file: '', sku: '', cost: { ...all, amount } }] : [];
}

interface BilledFile {
  readonly file: ReportFile;
  readonly entries: readonly DatedEntry[];
  /** What its order costs is known. */
  readonly isKnown: boolean;
  /** Its purchases without a bill, unless they were refunded. */
  readonly unbilled: readonly Bought[];
}

const unbilledEntries = ({ file, unbilled }: BilledFile): DatedEntry[] =>
  unbilled.map(({ at, skus, by, estimate }) => ({
    ...{ ...nothing, at, sku: joined(skus), order: file.order, file: file.id, person: by, invoice: '' },
    ...{ currency: estimate?.currency ?? '', estimated: estimate?.amount ?? Fraction.zero, isUnbilled: true },
  }));

const { zero } = Fraction;
const nothing = {
  ...{ paid: zero, unpaid: zero, unread: zero, refunded: zero, estimated: zero, isUnbilled: false },
};

function billOf(
  file: ReportFile,
  lines: readonly Line[],
  read: ReadonlyMap<string, ReadInvoice>,
  unreadable: string[],
): BilledFile {
  const currencies = new Set(lines.flatMap(({ currency }) => currency || []));
  // Dollars and euros are never added up: each line stands for itself.
  if (currencies.size > 1)
    return { file, isKnown: true, unbilled: [], entries: entriesOf(lines, file, unreadable) };
  const bills = billFile({
    lines,
    items: file.bought,
    total: totalOf(file.total),
    ...paymentOf(file.invoices, read, new Set(lines.map(({ invoice }) => invoice))),
    isCancelled: file.state === 'Order Cancelled',
  });
  const isKnown = bills[0]?.isKnown ?? false;
  if (!isKnown && file.total !== '' && !parseMoney(file.total)) unreadable.push(`file ${file.id}: its total`);
  const unbilled = file.bought.filter(({ refund }, at) => !bills[at]?.isKnown && !refund);
  // What can be read of its lines counts.
  if (!isKnown && lines.some(({ amount }) => !amount))
    return { file, isKnown, unbilled, entries: entriesOf(lines, file, unreadable) };
  const entries = bills.flatMap(({ parts, currency }, at) =>
    parts.map((part) => ({
      ...nothing,
      ...{ paid: part.paid, unpaid: part.unpaid, unread: part.unread, refunded: part.refunded },
      // What each of several SKUs cost is not known: they are shown as one.
      sku: part.line ? productOf(part.line.sku) : joined(file.bought[at]?.skus ?? []),
      ...{ order: file.order, file: file.id, currency, person: file.bought[at]?.by ?? '' },
      invoice: part.line?.invoice ?? file.invoices.join(' + '),
      at: part.line ? part.line.at : timeOf(file),
    })),
  );
  return { file, entries, isKnown, unbilled };
}

const problemsOf = (lines: readonly Line[]): string[] =>
  lines.flatMap(({ amount, invoice, sku }) => (amount ? [] : [`invoice ${invoice}: ${sku || 'an item'}`]));

const joined = (skus: readonly string[]): string => [...new Set(skus.map(productOf))].join('+');

function entriesOf(lines: readonly Line[], file: ReportFile | undefined, unreadable: string[]): DatedEntry[] {
  unreadable.push(...problemsOf(lines));
  return lines.flatMap(({ amount, ...line }) => (amount ? [entryOf({ ...line, amount }, file)] : []));
}

function entryOf(
  { sku, file, invoice, at, paid, amount, currency }: Line & { amount: Fraction },
  of: ReportFile | undefined,
): DatedEntry {
  const isCredit = amount.sign < 0;
  return {
    ...{ ...nothing, sku: productOf(sku), file, invoice, at, currency },
    ...{ order: of?.order ?? '', person: of?.bought[0]?.by ?? '' },
    paid: paid && !isCredit ? amount : Fraction.zero,
    unpaid: paid ? Fraction.zero : amount,
    refunded: paid && isCredit ? Fraction.zero.minus(amount) : Fraction.zero,
  };
}

function groups<E extends Entry>(
  entries: readonly E[],
  name: (entry: E) => string,
  files: ReadonlyMap<string, ReportFile>,
): SpendRow[] {
  const found = groupBy(entries, (entry) => JSON.stringify([name(entry), entry.currency]));
  return [...found].map(([key, group]) => {
    const [label = '', currency = ''] = JSON.parse(key) as string[];
    return { name: label, currency, ...sums(group), ...lengths(group, files) };
  });
}

function sums(
  entries: readonly Entry[],
): Pick<SpendRow, 'spent' | 'refunded' | 'unpaid' | 'estimated' | 'unbilled'> {
  const refunded = sumOf(entries.map((entry) => entry.refunded));
  return {
    spent: sumOf(entries.map(({ paid }) => paid)).minus(refunded),
    refunded,
    unpaid: sumOf(entries.map(({ unpaid }) => unpaid)),
    estimated: sumOf(entries.map(({ estimated }) => estimated)),
    unbilled: entries.filter(({ isUnbilled }) => isUnbilled).length,
  };
}

/** Each file once, however many SKUs it was billed with. */
function lengths(
  entries: readonly Entry[],
  files: ReadonlyMap<string, ReportFile>,
): Pick<SpendRow, 'minutes' | 'files' | 'unmeasured'> {
  const isBilled = ({ file, paid, unpaid, unread }: Entry): boolean =>
    file !== '' && [paid, unpaid, unread].some(({ sign }) => sign > 0);
  const ids = new Set(entries.filter(isBilled).map(({ file }) => file));
  let [minutes, unmeasured] = [Fraction.zero, 0];
  for (const id of ids) {
    const length = parseNumber(files.get(id)?.duration ?? '');
    if (length && length.sign > 0) minutes = minutes.plus(length);
    else unmeasured += 1;
  }
  return { minutes, files: ids.size, unmeasured };
}

const byName = (one: SpendRow, other: SpendRow): number =>
  Number(!one.name) - Number(!other.name) ||
  compareTexts(one.name, other.name) ||
  compareTexts(one.currency, other.currency);

const byAmount = (one: SpendRow, other: SpendRow): number =>
  compareTexts(one.currency, other.currency) || other.spent.compare(one.spent) || byName(one, other);

const compareTexts = (one: string, other: string): number => Number(one > other) - Number(one < other);
