/** Fetches the invoices of files that the ledger knows, once, and keeps them. */
import type { Transport } from '../../api/http/transport.ts';
import { decodeKeptInvoice, getInvoice, type Invoice, isFinalInvoice } from '../../api/invoices.ts';
import { Files } from '../../ledger/files.ts';
import { type InvoiceLine, Invoices, type KeptInvoice } from '../../ledger/invoices.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LedgerNotes } from '../../ledger/notes.ts';
import { StenoError } from '../../lib/errors.ts';
import { formatJson } from '../../lib/json.ts';
import { millionthsOf } from '../../lib/money.ts';
import type { Report } from '../../lib/progress.ts';
import { doEach, type Outcome } from '../bulk.ts';
import { linesOf } from './lines.ts';

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

/** Of the newest files first. */
export const missingInvoices = async (ledger: Ledger): Promise<string[]> =>
  missingOf(await new Files(ledger).invoices(), await new Invoices(ledger).all());

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
