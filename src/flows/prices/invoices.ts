/** Fetches the invoices of files that the ledger knows, once, and keeps them. */

import {
  decodeKeptInvoice,
  getInvoice,
  type Invoice,
  type InvoiceItem,
  isFinalInvoice,
} from '../../api/account.ts';
import type { Transport } from '../../api/http/transport.ts';
import { Files } from '../../ledger/files.ts';
import { type InvoiceLine, Invoices, type KeptInvoice } from '../../ledger/invoices.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LedgerNotes } from '../../ledger/notes.ts';
import { StenoError } from '../../lib/errors.ts';
import { formatJson } from '../../lib/json.ts';
import { type Money, millionthsOf, parseMoney, parseNumber } from '../../lib/money.ts';
import type { Report } from '../../lib/progress.ts';
import { parseServiceTime } from '../../lib/time.ts';
import { doEach, type Outcome } from '../bulk.ts';

// What an invoice bills, line by line.

/** A line as the service sent it; empty where a field is missing. */
export type BilledLine = Omit<InvoiceItem, 'id'>;

interface ReadLine {
  readonly file: string;
  readonly sku: string;
  /** Undefined where it can't be read. */
  readonly cost: Money | undefined;
}

/** What no item explains was billed all the same: it is a line of the first file, without a SKU. */
export function linesOf({ items, total }: { items: readonly BilledLine[]; total: string }): ReadLine[] {
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

function costOf({ total, price, quantity }: BilledLine): Money | undefined {
  if (total !== '') return parseMoney(total);
  const [each, count] = [parseMoney(price), parseNumber(quantity)];
  return each && count && { ...each, amount: each.amount.times(count) };
}

const CONCURRENCY = 8;

/** Notes invoices that were fetched for another reason. */
export function noteInvoices(notes: LedgerNotes | undefined, invoices: readonly Invoice[]): void {
  for (const invoice of invoices)
    notes?.add(`invoice ${invoice.id}`, (tables) =>
      new Invoices(tables).keep(keptForm(invoice.id, invoice), keptLines(invoice)),
    );
}

const keptForm = (id: string, invoice: Invoice): KeptInvoice => ({
  ...{ id, ownId: invoice.id, state: invoice.state, isFinal: isFinalInvoice(invoice) },
  answer: formatJson(invoice.json, 0),
});

const keptLines = (invoice: Invoice): InvoiceLine[] =>
  linesOf(invoice).map(({ file, sku, cost }) => ({
    ...{ file, sku, currency: cost?.currency ?? '' },
    amount: (cost && millionthsOf(cost.amount)) ?? null,
  }));

/** Those that the ledger has kept, and those that files name and nobody has read yet; newest first. */
export async function knownInvoices(ledger: Ledger): Promise<Invoice[]> {
  const kept = await new Invoices(ledger).all();
  const read = kept.flatMap((each) => decodeKeptInvoice(each) ?? []);
  const ids = new Set(kept.map(({ id }) => id));
  const named = (await new Files(ledger).invoices()).filter((id) => !ids.has(id));
  const unread = named.map((id): Invoice => ({ ...noInvoice, id }));
  const dated = [...new Map(read.map((each) => [each.id, each])).values()]
    .map((invoice) => ({ invoice, at: parseServiceTime(invoice.created) ?? '' }))
    .sort((one, other) => Number(one.at < other.at) - Number(one.at > other.at));
  return [...unread, ...dated.map(({ invoice }) => invoice)];
}

const noInvoice = { state: '', purchaseOrder: '', created: '', paid: '', total: '', items: [], json: null };

/** Of the newest files first. */
export const missingInvoices = async (ledger: Ledger): Promise<string[]> =>
  missingOf(await new Files(ledger).invoices(), await new Invoices(ledger).all());

/** Those of these ids that are to be fetched: what may still change, or can't be read any more, is missing too. */
export function missingOf(named: readonly string[], invoices: readonly KeptInvoice[]): string[] {
  const kept = invoices.filter((each) => each.isFinal && decodeKeptInvoice(each));
  const ids = new Set(kept.map(({ id }) => id));
  return named.filter((id) => !ids.has(id));
}

export async function fetchInvoices(
  transport: Transport,
  ledger: Ledger,
  wanted: readonly string[],
  report?: Report,
): Promise<Outcome<void>[]> {
  if (wanted.length === 0) return [];
  let outage: StenoError | undefined;
  const files = await new Files(ledger).invoiceFiles();
  const fetchOne = async (id: string): Promise<void> => {
    // Each try of a service that is down takes as long as all its repeats.
    if (outage) throw outage;
    const invoice = await getInvoice(transport, id).catch((error) => {
      if (isOutage(error)) outage = error;
      throw error;
    });
    await new Invoices(ledger).keep(keptForm(id, invoice), keptLines(invoice), files.get(id) ?? []);
  };
  return doEach(wanted, CONCURRENCY, String, fetchOne, report);
}

const isOutage = (error: unknown): error is StenoError =>
  error instanceof StenoError && (error.kind === 'network' || error.kind === 'timeout');
