import type { Invoice } from '../api/invoices.ts';
import type { Json } from '../lib/json.ts';
import type { Column, View } from '../lib/view.ts';
import { alignAmounts } from './amounts.ts';

const header: readonly Column[] = [
  { name: 'invoice', kind: 'id' },
  { name: 'state', kind: 'state' },
  { name: 'purchase_order' },
  { name: 'created', kind: 'time' },
  { name: 'paid', kind: 'time' },
  { name: 'invoice_total', kind: 'amount' },
];

const item: readonly Column[] = [
  { name: 'item', kind: 'id' },
  { name: 'sku', importance: 80, uncut: true },
  { name: 'quantity', kind: 'amount', importance: 40 },
  { name: 'price', kind: 'amount', importance: 50 },
  { name: 'audiofile', importance: 60, uncut: true },
  { name: 'total', kind: 'amount', importance: 90 },
];

const help: Readonly<Record<string, string>> = {
  invoice: 'its id',
  state: 'as the service names it',
  purchase_order: 'of the account',
  created: 'when it was made',
  paid: 'when it was paid',
  invoice_total: 'of the whole invoice',
  item: 'the id of the item',
  sku: 'what was bought',
  quantity: 'how much of it',
  price: 'of one',
  audiofile: 'the file that it is for',
  total: 'of the item',
};

export const invoiceColumns = [...header, ...item].map(({ name }) => ({ name, help: help[name] ?? '' }));

/** For scripts: a row for each item, with the invoice's header in front; an invoice with no items is one row. */
export function invoicesView(invoices: readonly Invoice[], json: Json): View {
  const rows = invoices.flatMap((invoice) => {
    const items = itemRows(invoice);
    return (items.length ? items : [item.map(() => '')]).map((row) => [...headerRow(invoice), ...row]);
  });
  return { json, columns: [...header, ...item], rows, quiet: invoices.map((invoice) => invoice.total) };
}

/** For people: the header as a page, then the items, then the sum, in the currency that is known. */
export function invoicePages(given: Invoice, currency: string): View[] {
  const invoice = { ...given, ...alignedAmounts(given, currency) };
  const total = ['total', ...item.slice(2).map(() => ''), invoice.total];
  const page: View = { json: null, columns: header, rows: [headerRow(invoice)], quiet: [], asRecord: true };
  const items: View = { json: null, columns: item, rows: [...itemRows(invoice), total], quiet: [] };
  return invoice.items.length ? [page, items] : [page];
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

const headerRow = (invoice: Invoice): string[] => [
  invoice.id,
  invoice.state,
  invoice.purchaseOrder,
  invoice.created,
  invoice.paid,
  invoice.total,
];

const itemRows = (invoice: Invoice): string[][] =>
  invoice.items.map((each) => [each.id, each.sku, each.quantity, each.price, each.audiofile, each.total]);
