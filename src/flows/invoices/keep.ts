/** Fetches the invoices of files that the ledger knows, once, and keeps them. */
import type { Transport } from '../../api/http/transport.ts';
import { decodeKeptInvoice, getInvoice, type Invoice, isFinalInvoice } from '../../api/invoices.ts';
import type { InvoiceLine, KeptInvoice } from '../../ledger/invoices.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LedgerNotes } from '../../ledger/notes.ts';
import { StenoError } from '../../lib/errors.ts';
import { formatJson } from '../../lib/json.ts';
import { type Money, millionthsOf, parseMoney, parseNumber } from '../../lib/money.ts';
import type { Report } from '../../lib/progress.ts';
import { doEach, type Outcome } from '../bulk.ts';

const CONCURRENCY = 8;

export interface FetchOptions {
  /** At most so many, of the newest files first. */
  readonly limit?: number;
  readonly report?: Report | undefined;
}

/** Notes invoices that were fetched for another reason. */
export function noteInvoices(notes: LedgerNotes | undefined, invoices: readonly Invoice[]): void {
  for (const invoice of invoices)
    notes?.add(`invoice ${invoice.id}`, ({ invoices: kept }) =>
      kept.keep(keptForm(invoice.id, invoice), linesOf(invoice)),
    );
}

const keptForm = (id: string, invoice: Invoice): KeptInvoice => ({
  ...{ id, ownId: invoice.id, state: invoice.state, isFinal: isFinalInvoice(invoice) },
  answer: formatJson(invoice.json, 0),
});

/** What an invoice bills for each file. What no item explains belongs to the first of them: it was billed all the same. */
function linesOf({ items, total }: Invoice): InvoiceLine[] {
  const lines = items.map((item): InvoiceLine => {
    const cost = costOf(item);
    const amount = cost && millionthsOf(cost.amount);
    return { file: item.audiofile, sku: item.sku, amount: amount ?? null, currency: cost?.currency ?? '' };
  });
  const [first] = lines;
  const all = parseMoney(total);
  const amount = all && millionthsOf(all.amount);
  if (!first || amount === undefined || lines.some((line) => line.amount === null)) return lines;
  const rest = amount - lines.reduce((sum, line) => sum + Number(line.amount), 0);
  const currency = all?.currency || first.currency;
  return rest === 0 ? lines : [...lines, { file: first.file, sku: '', amount: rest, currency }];
}

function costOf({ total, price, quantity }: Invoice['items'][number]): Money | undefined {
  if (total !== '') return parseMoney(total);
  const [each, count] = [parseMoney(price), parseNumber(quantity)];
  return each && count && { ...each, amount: each.amount.times(count) };
}

/** Of the newest files first. Those that may still change, or can't be read any more, are missing too. */
export async function missingInvoices(ledger: Ledger): Promise<string[]> {
  const kept = (await ledger.invoices.all()).filter((each) => each.isFinal && decodeKeptInvoice(each));
  const ids = new Set(kept.map(({ id }) => id));
  return (await ledger.files.invoices()).filter((id) => !ids.has(id));
}

/** Those that may still change are fetched again. */
export async function fetchInvoices(
  transport: Transport,
  ledger: Ledger,
  { limit = Number.POSITIVE_INFINITY, report }: FetchOptions = {},
): Promise<Outcome<void>[]> {
  const wanted = (await missingInvoices(ledger)).slice(0, limit);
  let outage: StenoError | undefined;
  const fetchOne = async (id: string): Promise<void> => {
    // Each try of a service that is down takes as long as all its repeats.
    if (outage) throw outage;
    const invoice = await getInvoice(transport, id).catch((error) => {
      if (isOutage(error)) outage = error;
      throw error;
    });
    await ledger.invoices.keep(keptForm(id, invoice), linesOf(invoice));
  };
  return doEach(wanted, CONCURRENCY, String, fetchOne, report);
}

const isOutage = (error: unknown): error is StenoError =>
  error instanceof StenoError && (error.kind === 'network' || error.kind === 'timeout');
