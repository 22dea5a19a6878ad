/** What was spent, by month, SKU and order. An amount that can't be read is counted as such, never as zero. */
import { productOf } from '../../catalog/skus.ts';
import { Fraction } from '../../lib/fraction.ts';
import { type Money, MoneySums, parseMoney, parseNumber } from '../../lib/money.ts';
import { parseServiceTime } from '../../lib/service-time.ts';
import type { ReportFile, ReportInput, ReportInvoice, ReportItem } from './input.ts';

/** One sum of a report: of a month, a SKU or an order, in one currency. */
export interface SpendRow {
  /** `2026-08`, a SKU or the id of an order; empty for what belongs to none. */
  readonly name: string;
  readonly currency: string;
  readonly spent: Fraction;
  /** Credits and refunds, as an amount above zero. */
  readonly refunded: Fraction;
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
}

interface Entry {
  readonly month: string;
  readonly sku: string;
  readonly order: string;
  readonly file: string;
  /** Below zero for what came back. */
  readonly money: Money;
}

export function spendOf(input: ReportInput): Spend {
  const unreadable: string[] = [];
  const files = new Map(input.files.map((file) => [file.id, file]));
  const isWanted = (at: string | undefined): boolean =>
    input.since === undefined || (at !== undefined && at >= input.since);
  const invoiced = input.invoices
    .filter(({ id, created }) => {
      const at = parseServiceTime(created);
      if (input.since !== undefined && at === undefined) unreadable.push(`invoice ${id}: its date`);
      return isWanted(at);
    })
    .flatMap((invoice) => invoiceEntries(invoice, files, input.currency, unreadable));
  const billed = billedIn(input.invoices);
  const others = input.files.filter(
    (file) => !file.test && !isBilled(file, billed) && isWanted(timeOf(file)),
  );
  const entries = [
    ...invoiced,
    ...fileEntries(others, input.currency, unreadable),
    ...refundEntries(input, isWanted, unreadable),
  ];
  const rows = (name: (entry: Entry) => string): SpendRow[] => groups(entries, name, files);
  return {
    totals: rows(() => '').sort(byName),
    months: rows(({ month }) => month).sort(byName),
    skus: rows(({ sku }) => sku).sort(byAmount),
    orders: rows(({ order }) => order).sort(byAmount),
    unreadable,
    unpriced: others.filter(({ ended, total }) => ended === 'delivered' && isMissing(total)).length,
  };
}

/** A total of zero is one that is not final yet. */
const isMissing = (total: string): boolean => total === '' || parseMoney(total)?.amount.sign === 0;

const timeOf = ({ deliveredAt, orderedAt }: ReportFile): string => deliveredAt || orderedAt;

const monthOf = (at: string | undefined): string => at?.slice(0, 7) ?? '';

interface Billed {
  readonly invoices: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
}

const billedIn = (invoices: readonly ReportInvoice[]): Billed => ({
  invoices: new Set(invoices.map(({ id }) => id)),
  files: new Set(invoices.flatMap(({ items }) => items.map(({ audiofile }) => audiofile))),
});

/** Its cost is on an invoice, so that its own total would count it twice. */
const isBilled = ({ id, invoices }: ReportFile, billed: Billed): boolean =>
  billed.files.has(id) || invoices.some((each) => billed.invoices.has(each));

function invoiceEntries(
  { id, created, total, items }: ReportInvoice,
  files: ReadonlyMap<string, ReportFile>,
  currency: string,
  unreadable: string[],
): Entry[] {
  const month = monthOf(parseServiceTime(created));
  const itemised = new MoneySums();
  const entries = items.flatMap((item): Entry[] => {
    const money = inCurrency(costOf(item), currency);
    if (!money) {
      unreadable.push(`invoice ${id}: ${item.sku || 'an item'}`);
      return [];
    }
    itemised.add(money);
    const order = files.get(item.audiofile)?.order ?? '';
    return [{ month, sku: productOf(item.sku), order, file: item.audiofile, money }];
  });
  const all = inCurrency(parseMoney(total), currency);
  if (total !== '' && !all) unreadable.push(`invoice ${id}: its total`);
  const rest = all && { ...all, amount: all.amount.minus(itemised.get(all.currency)) };
  // What no item explains was spent all the same.
  if (rest && rest.amount.sign !== 0) entries.push({ month, sku: '', order: '', file: '', money: rest });
  return entries;
}

const inCurrency = (money: Money | undefined, currency: string): Money | undefined =>
  money && { ...money, currency: money.currency || currency };

function costOf({ total, price, quantity }: ReportItem): Money | undefined {
  if (total !== '') return parseMoney(total);
  const [each, count] = [parseMoney(price), parseNumber(quantity)];
  return each && count && { ...each, amount: each.amount.times(count) };
}

/** Files that are on no invoice: of a prepaid account, or not billed yet. */
function fileEntries(files: readonly ReportFile[], currency: string, unreadable: string[]): Entry[] {
  return files.flatMap((file): Entry[] => {
    if (file.ended === 'unfinished' || isMissing(file.total)) return [];
    const money = inCurrency(parseMoney(file.total), currency);
    if (!money) {
      unreadable.push(`file ${file.id}: its total`);
      return [];
    }
    // What each of several SKUs cost is not known: they are shown as one.
    const sku = [...new Set(file.skus.map(productOf))].join('+');
    return [{ month: monthOf(timeOf(file)), sku, order: file.order, file: file.id, money }];
  });
}

function refundEntries(
  { refunds, files }: ReportInput,
  isWanted: (at: string | undefined) => boolean,
  unreadable: string[],
): Entry[] {
  const skus = new Map(files.map((file) => [file.id, [...new Set(file.skus.map(productOf))].join('+')]));
  return refunds
    .filter(({ at }) => isWanted(at))
    .flatMap(({ at, order, audiofile, amount }): Entry[] => {
      // It goes to the balance, which is in dollars.
      const money = inCurrency(parseMoney(amount), 'USD');
      if (!money) {
        unreadable.push(`a refund of order ${order}`);
        return [];
      }
      const back = money.amount.sign < 0 ? money.amount : Fraction.zero.minus(money.amount);
      const sku = skus.get(audiofile) ?? '';
      return [{ month: monthOf(at), sku, order, file: audiofile, money: { ...money, amount: back } }];
    });
}

function groups(
  entries: readonly Entry[],
  name: (entry: Entry) => string,
  files: ReadonlyMap<string, ReportFile>,
): SpendRow[] {
  const found = new Map<string, Entry[]>();
  for (const entry of entries) {
    const key = JSON.stringify([name(entry), entry.money.currency]);
    const group = found.get(key);
    if (group) group.push(entry);
    else found.set(key, [entry]);
  }
  return [...found].map(([key, group]) => {
    const [label = '', currency = ''] = JSON.parse(key) as string[];
    return { name: label, currency, ...sums(group), ...lengths(group, files) };
  });
}

function sums(entries: readonly Entry[]): Pick<SpendRow, 'spent' | 'refunded'> {
  let [spent, refunded] = [Fraction.zero, Fraction.zero];
  for (const { money } of entries) {
    if (money.amount.sign > 0) spent = spent.plus(money.amount);
    else refunded = refunded.minus(money.amount);
  }
  return { spent, refunded };
}

/** Each file once, however many SKUs it was billed with. */
function lengths(
  entries: readonly Entry[],
  files: ReadonlyMap<string, ReportFile>,
): Pick<SpendRow, 'minutes' | 'files' | 'unmeasured'> {
  const ids = new Set(
    entries.filter(({ file, money }) => file && money.amount.sign > 0).map(({ file }) => file),
  );
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
