/** Reads what a report is made of from the ledger. */
import { decodeKeptInvoice } from '../../api/invoices.ts';
import { billItems } from '../../ledger/billing.ts';
import { Invoices } from '../../ledger/invoices.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { OpenAttempts } from '../../ledger/open-attempts.ts';
import { parseDetails } from '../../ledger/purchase.ts';
import { type BoughtRow, PurchaseLog } from '../../ledger/purchase-log.ts';
import { fromMillionths, type Money } from '../../lib/money.ts';
import { listFiles } from '../files/list.ts';
import type { ListedFile } from '../files/listed.ts';
import type { ReportFile, ReportInput } from './input.ts';

type GatherOptions = Pick<ReportInput, 'since' | 'until' | 'now' | 'currency'>;

export async function gatherReport(ledger: Ledger, options: GatherOptions): Promise<ReportInput> {
  const files: ReportFile[] = [];
  const pages = listFiles(
    ledger,
    {},
    { limit: Number.POSITIVE_INFINITY, asTable: false, withDownloads: false },
  );
  const bought = boughtByFile(await new PurchaseLog(ledger).bought());
  for await (const { rows } of pages)
    files.push(...rows.map((row) => reportFile(row, bought.get(row.id) ?? [])));
  const open = (await new OpenAttempts(ledger).list()).filter(({ status }) => status === 'unclear');
  const unclear = open.map(({ attempt, at, urls, files: ids, skus }) => ({
    ...{ attempt: String(attempt), at, skus },
    url: urls[0] ?? ids[0] ?? '',
  }));
  return {
    ...options,
    files,
    invoices: (await new Invoices(ledger).all()).flatMap((kept) => {
      const invoice = decodeKeptInvoice(kept);
      return invoice ? [{ ...invoice, askedAs: kept.id, isFinal: kept.isFinal }] : [];
    }),
    unclear,
  };
}

function boughtByFile(rows: readonly BoughtRow[]): Map<string, BoughtRow[]> {
  const files = new Map<string, BoughtRow[]>();
  for (const row of rows) {
    const file = files.get(row.file);
    if (file) file.push(row);
    else files.set(row.file, [row]);
  }
  return files;
}

const textsOf = (list: string | null): string[] => (list ? list.split(',') : []);

function reportFile(row: ListedFile, purchases: readonly BoughtRow[]): ReportFile {
  const { title = '', feed = '', tags = [] } = parseDetails(row.details);
  const bought = billItems(purchases, row).map(({ row: purchase, ...item }) => ({
    ...item,
    at: purchase?.kind === 'upgrade' ? purchase.started_at : row.ordered_at,
    skus: purchase ? item.skus : textsOf(row.skus),
    estimate: purchase && estimateOf(purchase),
  }));
  return {
    id: row.id,
    title: row.title || title,
    url: row.url,
    order: row.order_id,
    feed,
    tags,
    skus: textsOf(row.skus),
    state: row.state,
    ended: row.ended,
    hold: row.ended ? '' : (row.hold ?? ''),
    test: row.test === 1,
    orderedAt: row.ordered_at,
    dueFrom: row.upgraded_at ?? row.ordered_at,
    deliveredAt: row.ended === 'delivered' ? (row.changed_at ?? '') : '',
    duration: row.duration,
    total: row.total,
    invoices: textsOf(row.invoices),
    bought,
  };
}

const estimateOf = ({ estimate, currency }: BoughtRow): Money | undefined =>
  estimate === null ? undefined : { amount: fromMillionths(estimate), currency };
