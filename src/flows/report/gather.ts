/** What a report is made of: plain data, with texts as the service sent them and empty where a field is missing. */
import { decodeKeptInvoice, type Invoice } from '../../api/account.ts';
import type { BillItem } from '../../ledger/bill.ts';
import { billItems } from '../../ledger/billing.ts';
import { Invoices } from '../../ledger/invoices.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { OpenAttempts } from '../../ledger/open-attempts.ts';
import { audioTitle, detailsOf } from '../../ledger/purchase.ts';
import { type BoughtRow, PurchaseLog, type ReportedFiles } from '../../ledger/purchase-log.ts';
import { fromMillionths, type Money } from '../../lib/money.ts';
import { userAndHost } from '../../lib/sender.ts';
import type { BilledLine } from '../prices/invoices.ts';

export interface ReportFile {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly order: string;
  /** The feed of its audio, and its tags. */
  readonly feed: string;
  readonly tags: readonly string[];
  readonly skus: readonly string[];
  readonly state: string;
  readonly ended: 'delivered' | 'unfinished' | '';
  readonly hold: string;
  readonly test: boolean;
  /** Times of the ledger, in ISO 8601. */
  readonly orderedAt: string;
  readonly deliveredAt: string;
  /** When its present SKUs were ordered: the target counts from then. */
  readonly dueFrom: string;
  readonly duration: string;
  readonly total: string;
  readonly invoices: readonly string[];
  /** What was bought for it, never empty: its order first, then its upgrades. */
  readonly bought: readonly Bought[];
}

export interface Bought extends BillItem {
  /** When it was bought, and by whom; empty where that is not known. */
  readonly at: string;
  readonly by: string;
  /** What it was expected to cost; undefined where that was not known. */
  readonly estimate: Money | undefined;
}

export interface ReportInvoice extends Pick<Invoice, 'id' | 'state' | 'created' | 'total'> {
  /** What it was asked for by: files may name it so. */
  readonly askedAs: string;
  /** It is not to be read again. */
  readonly isFinal: boolean;
  readonly items: readonly BilledLine[];
}

/** An order of which it is not known whether it went through. */
export interface UnclearOrder {
  readonly attempt: string;
  readonly at: string;
  readonly url: string;
  readonly skus: readonly string[];
}

export interface ReportInput {
  readonly files: readonly ReportFile[];
  readonly invoices: readonly ReportInvoice[];
  readonly unclear: readonly UnclearOrder[];
  /** In ISO 8601; what was spent or delivered before or after is left out. What is under way is always there. */
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly now: number;
  /** Of amounts that say none; empty where it is not known. */
  readonly currency: string;
}

/** Whether a time is within the report; one that is not known is only in a report of all times. */
export const isWithin = (
  { since, until }: Pick<ReportInput, 'since' | 'until'>,
  at: string | undefined,
): boolean =>
  (since === undefined && until === undefined) ||
  (!!at && at >= (since ?? '') && (until === undefined || at <= until));

// Reads what a report is made of from the ledger.

type GatherOptions = Pick<ReportInput, 'since' | 'until' | 'now' | 'currency'>;

export async function gatherReport(ledger: Ledger, options: GatherOptions): Promise<ReportInput> {
  const files: ReportFile[] = [];
  for await (const { rows, bought } of new PurchaseLog(ledger).reported())
    for (const row of rows) files.push(reportFile(row, bought.get(row.id) ?? []));
  const open = (await new OpenAttempts(ledger).list()).filter(({ status }) => status === 'unclear');
  const unclear = open.map(({ attempt, at, urls, files: ids, skus }) => ({
    ...{ attempt: String(attempt), at, skus },
    url: urls[0] ?? ids[0] ?? '',
  }));
  return {
    ...options,
    // Newest first.
    files: files.reverse(),
    invoices: (await new Invoices(ledger).all()).flatMap((kept) => {
      const invoice = decodeKeptInvoice(kept);
      return invoice ? [{ ...invoice, askedAs: kept.id, isFinal: kept.isFinal }] : [];
    }),
    unclear,
  };
}

const textsOf = (list: string | null): string[] => (list ? list.split(',') : []);

function reportFile(row: ReportedFiles['rows'][number], purchases: readonly BoughtRow[]): ReportFile {
  const audio = detailsOf(row);
  const bought = billItems(purchases, row).map(({ row: purchase, skus, totalBefore, refund }) => ({
    ...{ totalBefore, refund },
    at: purchase?.kind === 'upgrade' ? purchase.started_at : row.ordered_at,
    by: buyerOf(purchase ?? row),
    skus: purchase ? skus : textsOf(row.skus),
    estimate: purchase && estimateOf(purchase),
  }));
  return {
    id: row.id,
    title: audioTitle(row.title, audio, row.url),
    url: row.url,
    order: row.order_id,
    feed: audio.feed ?? '',
    tags: audio.tags ?? [],
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

/** As `files` and `log` name people. */
const buyerOf = ({ actor, user, host }: Pick<BoughtRow, 'actor' | 'user' | 'host'>): string =>
  actor || userAndHost({ user: user ?? '', host: host ?? '' });

const estimateOf = ({ estimate, currency }: BoughtRow): Money | undefined =>
  estimate === null ? undefined : { amount: fromMillionths(estimate), currency };
