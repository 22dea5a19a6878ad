import type { Invoice, InvoiceItem } from '../api/account.ts';
import type { Outcome } from '../flows/bulk.ts';
import type { View } from '../lib/view.ts';
import { alignAmounts, amountJson, currencyOf } from './amounts.ts';
import { documents } from './documents.ts';
import { answerField, type Field, RecordType, textField } from './record.ts';
import { arrayOf, maybeNumber, maybeText } from './schema.ts';

const amount = <T>(
  name: string,
  help: string,
  text: (value: T) => string,
  more: Partial<Field<T>> = {},
): Field<T> => ({
  ...{ name, help, kind: 'amount', schema: maybeNumber, cell: text },
  json: (value) => amountJson(text(value)),
  ...more,
});

/** A line of an invoice. */
const itemRecord = new RecordType<InvoiceItem>([
  textField('item', 'the id of the item', ({ id }) => id, { kind: 'id' }),
  textField('sku', 'what was bought', ({ sku }) => sku, { importance: 80, uncut: true }),
  amount('quantity', 'how much of it', ({ quantity }) => quantity, { importance: 40 }),
  amount('price', 'of one', ({ price }) => price, { importance: 50 }),
  textField('audiofile', 'the file that it is for', ({ audiofile }) => audiofile, {
    importance: 60,
    uncut: true,
  }),
  amount('total', 'of the item', ({ total }) => total, { importance: 90 }),
]);

interface ShownInvoice extends Invoice {
  /** Of amounts that name none; empty where it is not known. */
  readonly currency: string;
}

/** The document of an invoice; its columns come before those of its items, one of which is the item's total. */
export const invoiceRecord = new RecordType<ShownInvoice>([
  textField('invoice', 'its id', ({ id }) => id, { kind: 'id' }),
  textField('state', 'as the service names it', ({ state }) => state, { kind: 'state' }),
  textField('purchase_order', 'of the account', ({ purchaseOrder }) => purchaseOrder),
  textField('created', 'when it was made, as the service says it', ({ created }) => created, {
    kind: 'time',
  }),
  textField('paid', 'when it was paid, as the service says it', ({ paid }) => paid, { kind: 'time' }),
  {
    name: 'invoice_total',
    help: 'of the whole invoice',
    kind: 'amount',
    schema: maybeText,
    cell: ({ total }) => total,
  },
  amount('total', 'of the whole invoice, to the digit', ({ total }) => total, { cell: false }),
  textField(
    'currency',
    'of the amounts, where it is known',
    ({ total, currency }) => currencyOf(total, currency),
    {
      cell: false,
    },
  ),
  {
    ...{ name: 'items', help: 'what it bills', schema: arrayOf(itemRecord.schema), cell: false },
    json: ({ items }) => items.map((each) => itemRecord.json(each)),
  },
  answerField(({ json }) => json),
]);

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

/** For people: the header as a page, then the items, then the sum, in the currency that is known. */
export function invoicePages(given: Invoice, currency: string): View[] {
  const invoice = { ...given, ...alignedAmounts(given, currency), currency };
  const page = invoiceRecord.view([invoice], ({ id }) => id);
  const items = itemRecord.view(invoice.items, ({ id }) => id);
  const total = ['total', ...itemRecord.columns.slice(2).map(() => ''), invoice.total];
  return [
    { ...{ json: null, quiet: [], columns: page.columns, rows: page.rows }, asRecord: true },
    ...(invoice.items.length
      ? [{ ...{ json: null, quiet: [], columns: items.columns }, rows: [...items.rows, total] }]
      : []),
  ];
}

function alignedAmounts({ total, items }: Invoice, currency: string): Pick<Invoice, 'total' | 'items'> {
  const [sum = '', ...totals] = alignAmounts([total, ...items.map((each) => each.total)], currency);
  const prices = alignAmounts(
    items.map((each) => each.price),
    currency,
  );
  return {
    total: sum,
    items: items.map((each, at) => ({ ...each, price: prices[at] ?? '', total: totals[at] ?? '' })),
  };
}
