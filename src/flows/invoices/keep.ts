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

/** Of the newest files first. */
export const missingInvoices = async (ledger: Ledger): Promise<string[]> =>
  missingOf(await ledger.files.invoices(), await ledger.invoices.all());

/** Those of these ids that are to be fetched: what may still change, or can't be read any more, is missing too. */
export function missingOf(named: readonly string[], invoices: readonly KeptInvoice[]): string[] {
  const kept = invoices.filter((each) => each.isFinal && decodeKeptInvoice(each));
  const ids = new Set(kept.map(({ id }) => id));
  return named.filter((id) => !ids.has(id));
}

/** Fetches and keeps these. */
export async function fetchInvoices(
  transport: Transport,
  ledger: Ledger,
  wanted: readonly string[],
  report?: Report,
): Promise<Outcome<void>[]> {
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
