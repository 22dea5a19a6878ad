/** Reads what a report is made of from the ledger. */
import { decodeKeptInvoice } from '../../api/invoices.ts';
import { parseDetails } from '../../ledger/audio-details.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { listFiles } from '../files/list.ts';
import type { ListedFile } from '../files/listed.ts';
import type { ReportFile, ReportInput } from './input.ts';

type GatherOptions = Pick<ReportInput, 'since' | 'now' | 'currency'>;

export async function gatherReport(ledger: Ledger, options: GatherOptions): Promise<ReportInput> {
  const files: ReportFile[] = [];
  const pages = listFiles(
    ledger,
    {},
    { limit: Number.POSITIVE_INFINITY, asTable: false, withDownloads: false },
  );
  for await (const { rows } of pages) files.push(...rows.map(reportFile));
  const open = (await ledger.openAttempts.list()).filter(({ status }) => status === 'unclear');
  const unclear = open.map(({ attempt, at, urls, skus }) => ({
    ...{ attempt: String(attempt), at, skus },
    url: urls[0] ?? '',
  }));
  return {
    ...options,
    files,
    invoices: (await ledger.invoices.all()).flatMap((kept) => decodeKeptInvoice(kept) ?? []),
    refunds: [],
    unclear,
  };
}

function reportFile(row: ListedFile): ReportFile {
  const { title = '' } = parseDetails(row.details);
  return {
    id: row.id,
    title: row.title || title,
    url: row.url,
    order: row.order_id,
    skus: row.skus ? row.skus.split(',') : [],
    state: row.state,
    ended: row.ended,
    hold: row.ended ? '' : (row.hold ?? ''),
    test: row.test === 1,
    orderedAt: row.ordered_at,
    deliveredAt: row.ended === 'delivered' ? (row.changed_at ?? '') : '',
    duration: row.duration,
    total: row.total,
    invoices: row.invoices ? row.invoices.split(',') : [],
  };
}
