/** Amounts, the balance, budgets, invoices and estimates. */

import type { Balance, Invoice, InvoiceItem } from '../api/account.ts';
import type { Outcome } from '../flows/bulk.ts';
import type { BudgetUse } from '../flows/orders/cost.ts';
import type { Estimate } from '../flows/prices/estimate.ts';
import { amountText, DEFAULT_CURRENCY, Fraction, type Money, moneyText, parseMoney } from '../lib/money.ts';
import { type Line, lineOf, plural } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import * as a from './fields.ts';
import { documents, oneOrAll, printed, RecordType, ranked } from './record.ts';
import * as is from './schema.ts';

/** More than this is a mistake of the service, which must not push out every other amount. */
const MAX_DECIMALS = 8;

/** As many as the most exact of them takes, so that points stand below each other. */
export const commonDecimals = (amounts: readonly Fraction[]): number =>
  amounts.reduce((decimals, amount) => Math.max(decimals, amount.decimals ?? 0), 2);

/** The currency that an amount names, else that of the setting, else the one of the API document. */
export const currencyOf = (text: string, set: string): string =>
  parseMoney(text)?.currency || set || DEFAULT_CURRENCY;

/** An amount with its currency. What is no amount stays as it is. */
export const amountWithCurrency = (text: string, set: string): string => alignAmounts(set, [text])[0] ?? '';

/** Amounts that stand below each other, with their currency. */
export function alignAmounts(set: string, texts: readonly string[]): string[] {
  const read = texts.map(readable);
  const decimals = commonDecimals(read.flatMap((money) => money?.amount ?? []));
  return texts.map((text, at) => {
    const money = read[at];
    if (!money) return text;
    return `${money.amount.roundedUp(decimals)} ${money.currency || set || DEFAULT_CURRENCY}`;
  });
}

function readable(text: string): Money | undefined {
  const money = parseMoney(text);
  const decimals = money?.amount.decimals;
  return decimals === undefined || decimals > MAX_DECIMALS ? undefined : money;
}

/** An amount of the service, with the currency of the settings. */
interface InCurrency {
  readonly currency: string;
}

export const balanceRecord = new RecordType<Balance & InCurrency>([
  a.amount('balance', 'exact balance', 'balance'),
  a.text('currency', 'currency of the balance', (found) => currencyOf(found.balance, found.currency), {
    cell: false,
  }),
  a.answer(({ json }) => json),
]);

export function balanceView(found: Balance, currency: string, isBrief: boolean): View {
  const { balance } = found;
  const shown = isBrief ? amountWithCurrency(balance, currency) : balance;
  const json = () => balanceRecord.json({ ...found, currency });
  return balanceRecord.view([{ ...found, balance: shown, currency }], { quiet: [balance], json });
}

export const budgetRecord = ranked<BudgetUse>(
  'left billed estimated unknown currency source refunded until not_counted set_by from set_at limit',
  [
    a.word('budget', 'amount and period', 'budget', { kind: 'id' }),
    a.word('source', 'ledger, or where the setting comes from', 'source'),
    a.time('from', 'start of the period', 'start', { schema: is.time }),
    a.time('until', 'end of the period, exclusive', 'end', { schema: is.time }),
    a.exact('billed', 'amount billed', 'billed'),
    a.exact('estimated', 'estimated amount of purchases not billed yet', 'estimated'),
    a.exact('refunded', 'amount refunded', 'refunded'),
    a.count('unknown', 'number of purchases of unknown cost', 'unknown'),
    a.exact('left', 'amount left; negative if overspent', 'left'),
    a.text('currency', 'currency of the amounts', 'currency'),
    a.list('not_counted', 'amounts in other currencies', ({ foreign }) => foreign.map(moneyText)),
    a.exact('limit', 'amount of the budget', 'limit'),
    a.text('set_by', 'who set it in the ledger', 'setBy'),
    a.time('set_at', 'when it was set in the ledger', 'setAt'),
  ],
);

const budgetsRecord = new RecordType<{ readonly budgets: readonly BudgetUse[] }>([
  a.records('budgets', 'each budget that applies', budgetRecord, 'budgets'),
]);

export const budgetsOutput = () => ({ ...budgetRecord.printed, schema: budgetsRecord.schema });

export const budgetsView = (budgets: readonly BudgetUse[]): View =>
  budgetRecord.view(budgets, {
    quiet: ({ left }) => amountText(left),
    json: () => budgetsRecord.json({ budgets }),
  });

/** For people: what is left, of what, and until when; red if it is less than nothing. */
export function budgetLines(use: BudgetUse): Line[] {
  const { budget, limit, currency, start, end, left, unknown, setBy, source } = use;
  const money = (amount: Fraction): string => moneyText({ amount, currency });
  const isOver = left.sign < 0;
  const of = moneyText({ amount: limit, currency });
  const rest = isOver ? `${money(Fraction.zero.minus(left))} over` : `${money(left)} left of`;
  const last = new Date(Date.parse(end) - 1).toISOString().slice(0, 10);
  const from = start.slice(0, 10);
  const days = from === last ? `on ${from}` : `from ${from} to ${last}`;
  const parts = (['billed', 'estimated', 'refunded'] as const)
    .filter((part) => use[part].sign || part === 'billed')
    .map((part) => `${money(use[part])} ${part}`);
  if (unknown) parts.push(`${plural(unknown, 'purchase')} of unknown cost`);
  const where = source === 'ledger' ? `set in the ledger${setBy && ` by ${setBy}`}` : `set in ${source}`;
  const text = `${rest} the budget of ${of} ${days} (UTC): ${parts.join(', ')}.`;
  const lines = [
    lineOf({ text, tone: isOver ? 'bad' : undefined }),
    lineOf({ text: `${budget} is ${where}.` }),
  ];
  return lines.map((line) => ({ ...line, folds: true }));
}

/** A line of an invoice. */
const itemRecord = ranked<InvoiceItem>('total sku audiofile price quantity', [
  a.text('item', 'item id', 'id', { kind: 'id' }),
  a.text('sku', 'SKU of the item', 'sku', { uncut: true }),
  a.amount('quantity', 'quantity', 'quantity'),
  a.amount('price', 'unit price', 'price'),
  a.text('audiofile', 'audiofile id', 'audiofile', { uncut: true }),
  a.amount('total', 'total of the item', 'total'),
]);

type ShownInvoice = Invoice & InCurrency;

/** The document of an invoice; its columns come before those of its items. */
export const invoiceRecord = new RecordType<ShownInvoice>([
  a.text('invoice', 'invoice id', 'id', { kind: 'id' }),
  a.text('state', 'state as the service names it', 'state', { kind: 'state' }),
  a.text('purchase_order', 'purchase order number', 'purchaseOrder'),
  a.text('created', 'when it was created, as reported by the service', 'created', { kind: 'time' }),
  a.text('paid', 'when it was paid, as reported by the service', 'paid', { kind: 'time' }),
  a.amount('total', 'exact total of the invoice', 'total'),
  a.text('currency', 'currency of the amounts', (each) => currencyOf(each.total, each.currency)),
  a.records('items', 'line items', itemRecord, 'items'),
  a.answer(({ json }) => json),
]);

/** For people, whose amounts name their currency. */
const invoiceHeader = new RecordType(invoiceRecord.fields.filter(({ name }) => name !== 'currency'));

/** In a row of an item, `total` is the item's. */
const besideItems = <C extends { readonly name: string }>(column: C): C =>
  column.name === 'total' ? { ...column, name: 'invoice_total' } : column;

export const invoiceOutput = () => ({
  ...printed(invoiceRecord.printedOneOrSeveral('invoice').schema, [
    ...invoiceRecord.columnHelp.map(besideItems),
    ...itemRecord.columnHelp,
  ]),
});

/** For scripts: a row for each item, with the invoice's header in front; an invoice with no items is one row. */
export function invoicesView(outcomes: ReadonlyArray<Outcome<Invoice>>, currency: string): View {
  const invoices = outcomes.flatMap(({ value }) => (value ? [{ ...value, currency }] : []));
  const rows = invoices.flatMap((invoice) => {
    const items = invoice.items.length
      ? invoice.items.map(itemRecord.cells)
      : [itemRecord.columns.map(() => '')];
    return items.map((item) => [...invoiceRecord.cells(invoice), ...item]);
  });
  const json = documents(outcomes, (each) => invoiceRecord.json({ ...each, currency }), 'invoice');
  return {
    json: oneOrAll(json, outcomes.length !== 1),
    columns: [...invoiceRecord.columns.map(besideItems), ...itemRecord.columns],
    rows,
    quiet: invoices.map(({ total }) => total),
  };
}

/** Without ids: one row for each. */
export function invoiceListView(invoices: readonly Invoice[], currency: string, isBrief: boolean): View {
  const shown = invoices.map((each) => ({ ...each, currency }));
  if (!isBrief) return invoiceRecord.view(shown);
  const aligned = shown.map((each) => ({ ...each, ...alignedAmounts(each, currency) }));
  return invoiceHeader.view(aligned, { only: 'filled' });
}

/** For people: the header as a page, then the items, then the sum, in the currency that is known. */
export function invoicePages(given: Invoice, currency: string): View[] {
  const invoice = { ...given, ...alignedAmounts(given, currency), currency };
  const page = invoiceHeader.view([invoice], { asRecord: true });
  if (invoice.items.length === 0) return [page];
  const items = itemRecord.view(invoice.items);
  const total = ['total', ...itemRecord.columns.slice(2).map(() => ''), invoice.total];
  return [page, { ...items, rows: [...items.rows, total] }];
}

function alignedAmounts({ total, items }: Invoice, currency: string): Pick<Invoice, 'total' | 'items'> {
  const [sum = '', ...totals] = alignAmounts(currency, [total, ...items.map((each) => each.total)]);
  const prices = alignAmounts(
    currency,
    items.map((each) => each.price),
  );
  return {
    total: sum,
    items: items.map((each, at) => ({ ...each, price: prices[at] ?? '', total: totals[at] ?? '' })),
  };
}

const priceRecord = new RecordType<Estimate['prices'][number]>([
  a.word('sku', 'SKU', 'sku'),
  a.exact('low', 'lowest price', 'low'),
  a.exact('high', 'highest price', 'high'),
  a.word('currency', 'currency of the price', ({ currency }) => currency || DEFAULT_CURRENCY),
  a.word('billing', 'how parts of a minute are billed', ({ exact }) => (exact ? 'exact' : 'not known')),
  a.word('from', 'source of the price', ({ ground }) => (ground ? 'invoices' : 'setting')),
  a.number('count', 'number of invoices that it is based on', ({ ground }) => ground?.count, {
    schema: is.maybeInteger,
  }),
  a.text('since', 'date of the oldest of them', ({ ground }) => ground?.since),
]);

/** What planned orders will cost. `low` and `high` are the same where all is known; null where a part is not. */
export const estimateRecord = new RecordType<Estimate>([
  a.exact('low', 'null if part of the cost is unknown', ({ total }) => total?.low, {
    schema: is.maybeNumber,
  }),
  a.exact('high', 'null if part of the cost is unknown', ({ total }) => total?.high, {
    schema: is.maybeNumber,
  }),
  a.text('currency', 'currency of both', ({ total }) => total && (total.currency || DEFAULT_CURRENCY)),
  a.plain(
    'known',
    'known part of the cost, by currency',
    is.arrayOf(is.object({ amount: is.number, currency: is.text })),
    ({ known }) =>
      known.map((each) => ({
        amount: a.exactJson(each.amount),
        currency: each.currency || DEFAULT_CURRENCY,
      })),
  ),
  a.records('prices', 'prices that it is made of', priceRecord, 'prices'),
  a.plain(
    'unpriced',
    'SKUs without a known price, and why',
    is.arrayOf(is.object({ sku: is.text, reason: is.text })),
    ({ unpriced }) => unpriced.map(({ sku, reason }) => ({ sku, reason })),
  ),
  a.list('unmeasured', 'audio of unknown length', 'unmeasured'),
]);
