/** Invoices that were fetched: one that is paid does not change any more. */
import { Table, timestamp } from './table.ts';

export interface KeptInvoice {
  readonly id: string;
  /** Nothing will change about it. */
  readonly isFinal: boolean;
  /** JSON, as the service sent it. */
  readonly answer: string;
}

interface InvoiceRow {
  readonly id: string;
  readonly final: number;
  readonly answer: string;
}

export class Invoices extends Table {
  async keep({ id, isFinal, answer }: KeptInvoice): Promise<void> {
    await this.db.run(
      `INSERT INTO kept_invoices (profile, id, fetched_at, final, answer) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (profile, id) DO UPDATE SET fetched_at = excluded.fetched_at, final = excluded.final,
         answer = excluded.answer`,
      ...[this.profile, id, timestamp(), Number(isFinal), this.hide(answer)],
    );
  }

  async all(): Promise<KeptInvoice[]> {
    const rows = await this.db.all<InvoiceRow>(
      'SELECT id, final, answer FROM kept_invoices WHERE profile = ? ORDER BY id',
      this.profile,
    );
    return rows.map(({ id, final, answer }) => ({ id, isFinal: final === 1, answer }));
  }
}
