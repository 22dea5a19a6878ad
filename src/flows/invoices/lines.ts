/** What an invoice bills, line by line. */
import { type Money, parseMoney, parseNumber } from '../../lib/money.ts';

interface Item {
  readonly sku: string;
  readonly quantity: string;
  readonly price: string;
  readonly audiofile: string;
  readonly total: string;
}

export interface ReadLine {
  readonly file: string;
  readonly sku: string;
  /** Undefined where it can't be read. */
  readonly cost: Money | undefined;
}

/** What no item explains was billed all the same: it is a line of the first file, without a SKU. */
export function linesOf({ items, total }: { items: readonly Item[]; total: string }): ReadLine[] {
  const lines = items.map((item): ReadLine => {
    const { audiofile: file, sku } = item;
    return { file, sku, cost: costOf(item) };
  });
  const [first] = lines;
  const all = parseMoney(total);
  const currencies = new Set([all, ...lines.map(({ cost }) => cost)].flatMap((each) => each?.currency || []));
  if (!first || !all || currencies.size > 1 || lines.some(({ cost }) => !cost)) return lines;
  const rest = lines.reduce((left, { cost }) => (cost ? left.minus(cost.amount) : left), all.amount);
  if (rest.sign === 0) return lines;
  const currency = all.currency || (first.cost?.currency ?? '');
  return [...lines, { file: first.file, sku: '', cost: { amount: rest, currency } }];
}

function costOf({ total, price, quantity }: Item): Money | undefined {
  if (total !== '') return parseMoney(total);
  const [each, count] = [parseMoney(price), parseNumber(quantity)];
  return each && count && { ...each, amount: each.amount.times(count) };
}
