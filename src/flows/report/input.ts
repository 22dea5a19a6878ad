/** What a report is made of: plain data, with texts as the service sent them and empty where a field is missing. */
import type { BillItem } from '../../ledger/bill.ts';
import type { Money } from '../../lib/money.ts';

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
  /** Why its order is on hold. */
  readonly hold: string;
  readonly test: boolean;
  /** Times of the ledger, in ISO 8601. */
  readonly orderedAt: string;
  readonly deliveredAt: string;
  /** When its present SKUs were ordered: the target counts from then. */
  readonly dueFrom: string;
  /** In minutes. */
  readonly duration: string;
  readonly total: string;
  readonly invoices: readonly string[];
  /** What was bought for it, never empty: its order first, then its upgrades. */
  readonly bought: readonly Bought[];
}

export interface Bought extends BillItem {
  /** When it was bought. */
  readonly at: string;
  /** What it was expected to cost; undefined where that was not known. */
  readonly estimate: Money | undefined;
}

export interface ReportItem {
  readonly sku: string;
  readonly quantity: string;
  readonly price: string;
  readonly total: string;
  readonly audiofile: string;
}

export interface ReportInvoice {
  readonly id: string;
  /** What it was asked for by: files may name it so. */
  readonly askedAs: string;
  readonly state: string;
  /** It is not to be read again. */
  readonly isFinal: boolean;
  readonly created: string;
  readonly total: string;
  readonly items: readonly ReportItem[];
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
