/** Amounts, the balance, budgets, invoices and estimates. */

import type { Balance, Invoice, InvoiceItem } from '../api/account.ts';
import type { Outcome } from '../flows/bulk.ts';
import type { BudgetUse } from '../flows/orders/cost.ts';
import type { Estimate } from '../flows/prices/estimate.ts';
import { JsonNumber } from '../lib/json.ts';
import { amountText, DEFAULT_CURRENCY, Fraction, type Money, moneyText, parseMoney } from '../lib/money.ts';
import { plural } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import {
  answerField,
  countField,
  documentOf,
  documents,
  fieldsOf,
  listField,
  RecordType,
  textField,
  timeField,
  wordField,
} from './record.ts';
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

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** To the digit; null where it is not known or can't be read. */
export function amountJson(text: string): JsonNumber | null {
  if (jsonNumber.test(text)) return new JsonNumber(text);
  const money = parseMoney(text);
  return money ? new JsonNumber(amountText(money.amount)) : null;
}

const exactJson = (amount: Fraction): JsonNumber => new JsonNumber(amountText(amount));

/** An amount as text; null in JSON where it is not known or can't be read. */
export const amountField = fieldsOf<string>((take) => ({
  ...{ kind: 'amount', schema: is.maybeNumber, cell: take },
  json: (value) => amountJson(take(value)),
}));

/** An amount that is always known. */
export const exactField = fieldsOf<Fraction>((take) => ({
  ...{ kind: 'amount', schema: is.number },
  json: (value) => exactJson(take(value)),
}));

/** An amount of the service, with the currency of the settings. */
interface InCurrency {
  readonly currency: string;
}

export const balanceRecord = new RecordType<Balance & InCurrency>([
  amountField('balance', 'exact balance', 'balance'),
  textField('currency', 'currency of the balance', (found) => currencyOf(found.balance, found.currency), {
    cell: false,
  }),
  answerField(({ json }) => json),
]);

export function balanceView(found: Balance, currency: string, isBrief: boolean): View {
  const view = balanceRecord.page({ ...found, currency });
  return isBrief ? { ...view, rows: [[amountWithCurrency(found.balance, currency)]] } : view;
}

export const budgetRecord = new RecordType<BudgetUse>([
  wordField('budget', 'amount and period', 'budget', { kind: 'id' }),
  wordField('source', 'ledger, or where the setting comes from', 'source', { importance: 60 }),
  timeField('from', 'start of the period', 'start', { importance: 30, schema: is.time }),
  timeField('until', 'end of the period, exclusive', 'end', { importance: 50, schema: is.time }),
  exactField('billed', 'amount billed', 'billed', { importance: 80 }),
  exactField('estimated', 'estimated amount of purchases not billed yet', 'estimated', { importance: 75 }),
  exactField('refunded', 'amount refunded', 'refunded', { importance: 55 }),
  countField('unknown', 'number of purchases of unknown cost', 'unknown', { importance: 70 }),
  exactField('left', 'amount left; negative if overspent', 'left', { importance: 95 }),
  textField('currency', 'currency of the amounts', 'currency', { importance: 65 }),
  listField('not_counted', 'amounts in other currencies', ({ foreign }) => foreign.map(moneyText), {
    importance: 45,
  }),
  exactField('limit', 'amount of the budget', 'limit', { importance: 20 }),
  textField('set_by', 'who set it in the ledger', 'setBy', { importance: 40 }),
  timeField('set_at', 'when it was set in the ledger', 'setAt', { importance: 25 }),
]);

export const budgetsSchema: is.Schema = is.object({ budgets: is.arrayOf(budgetRecord.schema) });

export function budgetsView(budgets: readonly BudgetUse[]): View {
  const view = budgetRecord.view(budgets, ({ left }) => amountText(left));
  return { ...view, json: new Map([['budgets', view.json]]) };
}

/** For people: what is left, of what, and until when; `isOver` is bad news. */
export function budgetLines(use: BudgetUse): { readonly text: string; readonly isOver: boolean } {
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
  return {
    text: `${rest} the budget of ${of} ${days} (UTC): ${parts.join(', ')}.\n${budget} is ${where}.`,
    isOver,
  };
}

/** A line of an invoice. */
const itemRecord = new RecordType<InvoiceItem>([
  textField('item', 'item id', 'id', { kind: 'id' }),
  textField('sku', 'SKU of the item', 'sku', { importance: 80, uncut: true }),
  amountField('quantity', 'quantity', 'quantity', { importance: 40 }),
  amountField('price', 'unit price', 'price', { importance: 50 }),
  textField('audiofile', 'audiofile id', 'audiofile', { importance: 60, uncut: true }),
  amountField('total', 'total of the item', 'total', { importance: 90 }),
]);

/** The document of an invoice; its columns come before those of its items, one of which is the item's total. */
export const invoiceRecord = new RecordType<Invoice & InCurrency>([
  textField('invoice', 'invoice id', 'id', { kind: 'id' }),
  textField('state', 'state as the service names it', 'state', { kind: 'state' }),
  textField('purchase_order', 'purchase order number', 'purchaseOrder'),
  textField('created', 'when it was created, as reported by the service', 'created', { kind: 'time' }),
  textField('paid', 'when it was paid, as reported by the service', 'paid', { kind: 'time' }),
  {
    ...{ name: 'invoice_total', help: 'total of the invoice', kind: 'amount', schema: is.maybeText },
    cell: ({ total }) => total,
  },
  amountField('total', 'exact total of the invoice', 'total', { cell: false }),
  textField('currency', 'currency of the amounts', (each) => currencyOf(each.total, each.currency)),
  {
    ...{ name: 'items', help: 'line items', schema: is.arrayOf(itemRecord.schema), cell: false },
    json: ({ items }) => items.map((each) => itemRecord.json(each)),
  },
  answerField(({ json }) => json),
]);

/** For people, whose amounts name their currency. */
const invoiceHeader = new RecordType(invoiceRecord.fields.filter(({ name }) => name !== 'currency'));

export const invoiceColumns = [...invoiceRecord.columnHelp, ...itemRecord.columnHelp];

/** For scripts: a row for each item, with the invoice's header in front; an invoice with no items is one row. */
export function invoicesView(outcomes: ReadonlyArray<Outcome<Invoice>>, currency: string): View {
  const invoices = outcomes.flatMap(({ value }) => (value ? [{ ...value, currency }] : []));
  const rows = invoices.flatMap((invoice) => {
    const items = invoice.items.map((each) => itemRecord.cells(each));
    const header = invoiceRecord.cells(invoice);
    return (items.length ? items : [itemRecord.columns.map(() => '')]).map((row) => [...header, ...row]);
  });
  return {
    json: documents(outcomes, (each) => invoiceRecord.json({ ...each, currency }), { name: 'invoice' }),
    columns: [...invoiceRecord.columns, ...itemRecord.columns],
    rows,
    quiet: invoices.map(({ total }) => total),
  };
}

/** Without ids: one row for each. */
export function invoiceListView(invoices: readonly Invoice[], currency: string, isBrief: boolean): View {
  const shown = invoices.map((each) => ({ ...each, currency }));
  const view = invoiceRecord.view(shown, ({ id }) => id);
  if (!isBrief) return view;
  const totals = alignAmounts(
    currency,
    invoices.map(({ total }) => total),
  );
  return invoiceHeader.filled(
    invoiceHeader.view(shown.map((each, at) => ({ ...each, total: totals[at] ?? '' }))),
  );
}

/** For people: the header as a page, then the items, then the sum, in the currency that is known. */
export function invoicePages(given: Invoice, currency: string): View[] {
  const invoice = { ...given, ...alignedAmounts(given, currency), currency };
  const page: View = { ...invoiceHeader.view([invoice]), asRecord: true };
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

const price = documentOf<Estimate['prices'][number]>({
  sku: [is.text, 'sku'],
  low: [is.number, ({ low }) => exactJson(low)],
  high: [is.number, ({ high }) => exactJson(high)],
  currency: [is.text, ({ currency }) => currency || DEFAULT_CURRENCY],
  billing: [is.text, ({ exact }) => (exact ? 'exact' : 'not known'), 'how parts of a minute are billed'],
  from: [is.text, ({ ground }) => (ground ? 'invoices' : 'setting'), 'source of the price'],
  count: [is.maybeInteger, ({ ground }) => ground?.count ?? null, 'number of invoices that it is based on'],
  since: [is.maybeText, ({ ground }) => ground?.since ?? null],
});

/** What planned orders will cost. `low` and `high` are the same where all is known; null where a part is not. */
export const { schema: estimateSchema, json: estimateJson } = documentOf<Estimate>({
  low: [is.maybeNumber, ({ total }) => total && exactJson(total.low), 'null if part of the cost is unknown'],
  high: [is.maybeNumber, ({ total }) => total && exactJson(total.high)],
  currency: [is.maybeText, ({ total }) => total && (total.currency || DEFAULT_CURRENCY)],
  known: [
    is.arrayOf(is.object({ amount: is.number, currency: is.text })),
    ({ known }) =>
      known.map((each) => ({ amount: exactJson(each.amount), currency: each.currency || DEFAULT_CURRENCY })),
    'known part of the cost, by currency',
  ],
  prices: [is.arrayOf(price.schema), ({ prices }) => prices.map(price.json)],
  unpriced: [
    is.arrayOf(is.object({ sku: is.text, reason: is.text })),
    ({ unpriced }) => unpriced.map(({ sku, reason }) => ({ sku, reason })),
  ],
  unmeasured: [is.arrayOf(is.text), 'unmeasured', 'audio of unknown length'],
});
