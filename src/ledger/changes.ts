/** Whether somebody has written to the ledger, and what that is about. */
import type { Ledger } from './ledger.ts';
import { Table } from './table.ts';

export const topics = ['files', 'events', 'spend'] as const;
export type Topic = (typeof topics)[number];

/** Texts that differ after a change. */
export type Marks = Readonly<Record<'events' | 'spend', string>>;

export class Changes extends Table {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    super(ledger);
    this.#ledger = ledger;
  }

  /**
   * Differs whenever anybody has written: one cheap question. Of a shared ledger, it is which transactions the database
   * has seen, those of other tables included.
   */
  async version(): Promise<string> {
    if (!this.db.isShared) return String(await this.#ledger.db.version());
    const sql = 'SELECT CAST(txid_current_snapshot() AS TEXT) AS seen';
    return (await this.db.get<{ seen: string }>(sql))?.seen ?? '';
  }

  /** By indexes alone: with 100,000 files it takes some milliseconds. Of files, no index tells what has changed. */
  async marks(): Promise<Marks> {
    const row = await this.db.get<{ heard: string; spent: string }>(
      `SELECT
         (SELECT coalesce(min(id), 0) || ' ' || coalesce(max(id), 0) FROM events) || ' ' ||
         (SELECT count(*) || ' ' || coalesce(max(due_at), '') FROM actions WHERE status = 'pending') || ' ' ||
         (SELECT count(*) FROM actions WHERE status = 'failed') AS heard,
         (SELECT coalesce(max(number), 0) FROM purchases) || ' ' ||
         (SELECT count(*) FROM purchases WHERE profile = ? AND status IN ('sending', 'uncertain')) || ' ' ||
         (SELECT count(*) || ' ' || coalesce(sum(estimate), 0) || ' ' || coalesce(sum(billed), 0) || ' ' ||
            coalesce(sum(refunded), 0) FROM purchase_items WHERE profile = ? AND counted_at IS NOT NULL) || ' ' ||
         (SELECT count(*) || ' ' || coalesce(max(fetched_at), '') FROM kept_invoices WHERE profile = ?) || ' ' ||
         (SELECT count(*) FROM files WHERE profile = ? AND ended = '' AND test = 0) || ' ' ||
         coalesce((SELECT coalesce(budget, '') || ' ' || coalesce(set_at, '') FROM budgets WHERE profile = ?), '') AS spent`,
      ...Array.from({ length: 5 }, () => this.profile),
    );
    return { events: row?.heard ?? '', spend: row?.spent ?? '' };
  }
}
