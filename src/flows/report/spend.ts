/** What was spent, by month, SKU and order. An amount that can't be read is counted as such, never as zero. */
import { productOf } from '../../catalog/skus.ts';
import type { BillLine, BillPart } from '../../ledger/bill.ts';
import { costsOf, type ReadInvoice, sharedBy, totalOf } from '../../ledger/billing.ts';
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
export type Grouping = (typeof groupings)[number];

/** An amount of a file: by a line of an invoice, or by a purchase. */
interface Entry {
  readonly billed: Omit<BillPart, 'line'>;
  /** Of a purchase without a bill: what it is expected to cost. */
  readonly unbilled?: Fraction;
  readonly sku: string;
  readonly person: string;
  readonly invoice: string;
  readonly at: string | undefined;
  readonly currency: string;
}

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
  const read = new Map(input.invoices.map((invoice) => [invoice.askedAs, readForm(invoice)]));
  const sums = new Sums(input, currency);
  for (const file of real) {
    sums.addFile(file, spendOfFile(file, lines.get(file.id) ?? [], read, unreadable));
    lines.delete(file.id);
  }
  for (const [file, own] of lines) sums.add(entriesOf(own, undefined, unreadable), file);
  if (input.since !== undefined || input.until !== undefined)
    for (const { id, created } of invoices)
      if (parseServiceTime(created) === undefined) unreadable.push(`invoice ${id}: its date`);
  return { ...sums.all(), unreadable };
}

const groupings = ['month', 'sku', 'order', 'feed', 'tag', 'person', 'invoice'] as const;

class Row implements SpendRow {
  readonly name: string;
  readonly currency: string;
  spent = Fraction.zero;
  refunded = Fraction.zero;
  unpaid = Fraction.zero;
  estimated = Fraction.zero;
  unbilled = 0;
  minutes = Fraction.zero;
  files = 0;
  unmeasured = 0;
  /** The file that was counted last. */
  #counted = '';

  constructor(name: string, currency: string) {
    this.name = name;
    this.currency = currency;
  }

  /** A file counts once, however many SKUs it was billed with: its entries come one after the other. */
  add({ billed, unbilled }: Entry, file: string, length: Fraction | undefined): void {
    const { paid, unpaid, unread, refunded } = billed;
    this.spent = this.spent.plus(paid).minus(refunded);
    this.refunded = this.refunded.plus(refunded);
    this.unpaid = this.unpaid.plus(unpaid);
    if (unbilled) {
      this.estimated = this.estimated.plus(unbilled);
      this.unbilled += 1;
    }
    const isBilled = paid.sign > 0 || unpaid.sign > 0 || unread.sign > 0;
    if (!isBilled || file === '' || file === this.#counted) return;
    this.#counted = file;
    this.files += 1;
    if (length && length.sign > 0) this.minutes = this.minutes.plus(length);
    else this.unmeasured += 1;
  }
}

/** The rows of one currency, by their names. */
class CurrencyRows {
  readonly currency: string;
  readonly total: Row;
  readonly groups = groupings.map((by) => ({ by, rows: new Map<string, Row>() }));

  constructor(currency: string) {
    this.currency = currency;
    this.total = new Row('', currency);
  }

  add(entry: Entry, names: Readonly<Record<Grouping, string>>, file: string, length?: Fraction): void {
    this.total.add(entry, file, length);
    for (const { by, rows } of this.groups) {
      let row = rows.get(names[by]);
      if (!row) {
        row = new Row(names[by], this.currency);
        rows.set(row.name, row);
      }
      row.add(entry, file, length);
    }
  }
}

/** All sums at once. Every entry is in one row of each grouping, so that the rows add up to the totals. */
class Sums {
  readonly #rows = new Map<string, CurrencyRows>();
  readonly #unread = new MoneySums();
  /** Delivered files of which nothing says what they cost; and other purchases without a bill, by what is estimated. */
  #unpriced = 0;
  #unbilled = 0;
  #unestimated = 0;
  readonly #estimates = new MoneySums();
  readonly #input: ReportInput;
  readonly #currency: string;

  /** `currency`: of amounts that say none. */
  constructor(input: ReportInput, currency: string) {
    this.#input = input;
    this.#currency = currency;
  }

  addFile(file: ReportFile, { entries, isKnown, unbilled }: FileSpend): void {
    this.add([...entries, ...unbilled.map(unbilledEntry)], file.id, file);
    for (const [nth, { at, estimate }] of unbilled.entries()) {
      if (!isWithin(this.#input, at)) continue;
      if (nth === 0 && !isKnown && file.ended === 'delivered') this.#unpriced += 1;
      else this.#addUnbilled(estimate);
    }
  }

  /** All entries of a file, or of no file. */
  add(entries: readonly Entry[], id: string, file?: ReportFile): void {
    const length = parseNumber(file?.duration ?? '');
    const [order, feed, tag] = [file?.order ?? '', file?.feed ?? '', tagsText(file)];
    for (const entry of entries) {
      if (!isWithin(this.#input, entry.at)) continue;
      const { sku, person, invoice, at = '', billed } = entry;
      const currency = entry.currency || this.#currency;
      const rows = this.#rows.get(currency) ?? new CurrencyRows(currency);
      this.#rows.set(currency, rows);
      rows.add(entry, { order, feed, tag, month: at.slice(0, 7), sku, person, invoice }, id, length);
      if (billed.unread.sign) this.#unread.add({ amount: billed.unread, currency });
    }
  }

  #addUnbilled(estimate: Money | undefined): void {
    this.#unbilled += 1;
    if (estimate) this.#estimates.add({ ...estimate, currency: estimate.currency || this.#currency });
    else this.#unestimated += 1;
  }

  all() {
    const all = [...this.#rows.values()];
    const sorted = (by: Grouping): readonly SpendRow[] =>
      all
        .flatMap(({ groups }) => [...(groups.find((each) => each.by === by)?.rows.values() ?? [])])
        .sort(by === 'month' ? byName : byAmount);
    const groups = groupings.map((by) => [by, sorted(by)] as const);
    return {
      totals: all.map(({ total }): SpendRow => total).sort(byName),
      groups: Object.fromEntries(groups) as Readonly<Record<Grouping, readonly SpendRow[]>>,
      // What may be paid or not, because its invoice was not read: it is in no sum.
      unread: this.#unread.all(),
      ...{ unpriced: this.#unpriced, unbilled: this.#unbilled, unestimated: this.#unestimated },
      estimated: this.#estimates.all(),
    };
  }
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

/** Where all amounts that name a currency name the same, the others are in it too. */
function onlyCurrency({ files }: ReportInput, invoices: readonly ReportInvoice[]): string {
  const texts = [
    ...files.map(({ total }) => total),
    ...invoices.flatMap(({ total, items }) => [total, ...items.flatMap((item) => [item.total, item.price])]),
  ];
  const estimates = files.flatMap(({ bought }) => bought.flatMap(({ estimate }) => estimate ?? []));
  const named = new Set(
    [...texts.filter((text) => /[^\d.]/.test(text)).map(parseMoney), ...estimates].flatMap(
      (money) => money?.currency || [],
    ),
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

interface FileSpend {
  readonly entries: readonly Entry[];
  /** What its order costs is known. */
  readonly isKnown: boolean;
  /** Its purchases without a bill, unless they were refunded. */
  readonly unbilled: readonly Bought[];
}

const { zero } = Fraction;
const nothing = { paid: zero, unpaid: zero, unread: zero, refunded: zero };

const unbilledEntry = ({ at, skus, by: person, estimate }: Bought): Entry => ({
  ...{ billed: nothing, unbilled: estimate?.amount ?? zero, currency: estimate?.currency ?? '' },
  ...{ at, sku: joined(skus), person, invoice: '' },
});

function spendOfFile(
  file: ReportFile,
  lines: readonly Line[],
  read: ReadonlyMap<string, ReadInvoice>,
  unreadable: string[],
): FileSpend {
  const currencies = new Set(lines.flatMap(({ currency }) => currency || []));
  // Dollars and euros are never added up: each line stands for itself.
  if (currencies.size > 1)
    return { isKnown: true, unbilled: [], entries: entriesOf(lines, file, unreadable) };
  const bills = costsOf(file, file.bought, lines, file.invoices, read);
  const isKnown = bills[0]?.isKnown ?? false;
  if (!isKnown && file.total !== '' && !parseMoney(file.total)) unreadable.push(`file ${file.id}: its total`);
  const unbilled = file.bought.filter(({ refund }, at) => !bills[at]?.isKnown && !refund);
  // What can be read of its lines counts.
  if (!isKnown && lines.some(({ amount }) => !amount))
    return { isKnown, unbilled, entries: entriesOf(lines, file, unreadable) };
  const entries = bills.flatMap(({ parts, currency }, at) =>
    parts.map(
      (billed): Entry => ({
        billed,
        // What each of several SKUs cost is not known: they are shown as one.
        sku: billed.line ? productOf(billed.line.sku) : joined(file.bought[at]?.skus ?? []),
        person: file.bought[at]?.by ?? '',
        invoice: billed.line?.invoice ?? file.invoices.join(' + '),
        at: billed.line ? billed.line.at : timeOf(file),
        currency,
      }),
    ),
  );
  return { entries, isKnown, unbilled };
}

const problemsOf = (lines: readonly Line[]): string[] =>
  lines.flatMap(({ amount, invoice, sku }) => (amount ? [] : [`invoice ${invoice}: ${sku || 'an item'}`]));

const joined = (skus: readonly string[]): string => [...new Set(skus.map(productOf))].join('+');

function entriesOf(lines: readonly Line[], file: ReportFile | undefined, unreadable: string[]): Entry[] {
  unreadable.push(...problemsOf(lines));
  return lines.flatMap(({ amount, ...line }) => (amount ? [entryOf({ ...line, amount }, file)] : []));
}

function entryOf(
  { sku, invoice, at, paid, amount, currency }: Line & { amount: Fraction },
  of: ReportFile | undefined,
): Entry {
  const isCredit = amount.sign < 0;
  const paidNow = isCredit ? { ...nothing, refunded: zero.minus(amount) } : { ...nothing, paid: amount };
  return {
    billed: paid ? paidNow : { ...nothing, unpaid: amount },
    ...{ sku: productOf(sku), person: of?.bought[0]?.by ?? '', invoice, at, currency },
  };
}

const byName = (one: SpendRow, other: SpendRow): number =>
  Number(!one.name) - Number(!other.name) ||
  compareTexts(one.name, other.name) ||
  compareTexts(one.currency, other.currency);

const byAmount = (one: SpendRow, other: SpendRow): number =>
  compareTexts(one.currency, other.currency) || other.spent.compare(one.spent) || byName(one, other);

const compareTexts = (one: string, other: string): number => Number(one > other) - Number(one < other);
