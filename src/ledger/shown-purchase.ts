/** A purchase as people read it. */
import type { Sender } from '../lib/sender.ts';
import { holdsLease } from './lease.ts';
import type { PurchaseKind } from './purchase.ts';
import { NOW } from './table.ts';

export interface ShownPurchase {
  readonly id: string;
  /** Its number. */
  readonly attempt: number;
  readonly kind: PurchaseKind;
  /** The raw call of `steno api`; empty where it was none. */
  readonly via: string;
  /** `unclear` has no known end; `being sent` will have one soon. */
  readonly status: 'placed' | 'refused' | 'unclear' | 'being sent';
  readonly at: string;
  /** Empty where no order is known. */
  readonly order: string;
  readonly skus: readonly string[];
  /** The process that sends or sent it; an empty host: not known. */
  readonly by: Sender;
  /** Who started the CI job that sent it; empty outside of CI. */
  readonly actor: string;
  /** What happened. */
  readonly detail: string;
}

export interface SenderRow extends Sender {
  readonly process_start: string;
  readonly seen_at: string | null;
  /** By the clock of the ledger. */
  readonly now: string;
}

export interface PurchaseRow extends SenderRow {
  readonly id: string;
  readonly number: number;
  readonly kind: PurchaseKind;
  readonly via: string;
  readonly status: 'sending' | 'placed' | 'refused' | 'uncertain';
  readonly started_at: string;
  readonly order_id: string;
  readonly detail: string;
  readonly skus: string;
  readonly actor: string;
}

/** SQL: what a `PurchaseRow` is made of. */
export const PURCHASE_COLUMNS = `id, number, kind, via, status, started_at, order_id, detail, skus, "user", host, pid, job,
  actor, process_start, seen_at, ${NOW} AS now`;

export function shownPurchase(row: PurchaseRow, isShared: boolean): ShownPurchase {
  const { id, number, kind, via, started_at, order_id, detail, skus, user, host, pid, job, actor } = row;
  return {
    ...{ id, attempt: number, kind, via, at: started_at, order: order_id, actor, detail },
    status: shownStatus(row, isShared),
    skus: skus ? skus.split(',') : [],
    by: { user, host, pid, job },
  };
}

export function shownStatus(
  row: Pick<PurchaseRow, 'status' | keyof SenderRow>,
  isShared: boolean,
): ShownPurchase['status'] {
  const { status, host, pid, process_start: start, seen_at: seenAt, now } = row;
  if (status === 'placed' || status === 'refused') return status;
  if (status !== 'sending' || seenAt === null) return 'unclear';
  const isSent = holdsLease({ host, pid, start, seenAt }, { nowMs: Date.parse(now), isShared });
  return isSent ? 'being sent' : 'unclear';
}
