/** Invoices that were fetched: one that is paid does not change any more. */
import { updateBills } from './billing.ts';
import type { Store } from './stores/store.ts';
import { groupBy, jsonList, Table, timestamp } from './table.ts';

export interface KeptInvoice {
  readonly id: string;
  /** Nothing will change about it. */
  readonly isFinal: boolean;
  /** The id in the answer: one invoice may be asked for under several. */
  readonly ownId: string;
  readonly state: string;
  /** JSON, as the service sent it. */
  readonly answer: string;
}

/** What an invoice bills for a file. */
export interface InvoiceLine {
  readonly file: string;
  readonly sku: string;
  /** In millionths; null where it can't be read. */
  readonly amount: number | null;
  readonly currency: string;
}

interface InvoiceRow {
  readonly id: string;
  readonly own_id: string;
  readonly state: string;
  readonly final: number;
  readonly answer: string;
}

/** What was ordered elsewhere of these files is what their invoices say; our own upgrades aside. */
export async function nameSkus(db: Store, profile: string, files: readonly string[]): Promise<void> {
  const rows = await db.all<{ purchase: string; sku: string; upgrades: string }>(
    `SELECT files.purchase, lines.sku, files.upgrades FROM invoice_lines AS lines
     JOIN files ON files.profile = lines.profile AND files.id = lines.file
     JOIN purchases ON purchases.id = files.purchase AND purchases.tracked = 1
     WHERE lines.profile = ? AND lines.sku <> '' AND lines.file IN (SELECT value FROM json_each(?))
     ORDER BY lines.invoice, lines.position`,
    ...[profile, jsonList([...new Set(files)])],
  );
  const bought = rows.filter(({ sku, upgrades }) => !upgrades.split(',').includes(sku));
  await db.batch(
    [...groupBy(bought, ({ purchase }) => purchase)].map(([purchase, own]) => ({
      sql: 'UPDATE purchases SET skus = ? WHERE id = ?',
      values: [[...new Set(own.map(({ sku }) => sku))].join(','), purchase],
    })),
  );
}

export class Invoices extends Table {
  /** Keeps an invoice, and what it says that the files on it cost. `namedBy` are the files that name it, where known. */
  keep(invoice: KeptInvoice, lines: readonly InvoiceLine[], namedBy?: readonly string[]): Promise<void> {
    const { id, ownId, state, isFinal, answer } = invoice;
    const fetchedAt = timestamp();
    return this.db.transaction(async (db) => {
      const before = await db.all<{ file: string }>(
        'SELECT file FROM invoice_lines WHERE profile = ? AND invoice = ?',
        this.profile,
        ownId,
      );
      await db.batch([
        {
          sql: `INSERT INTO kept_invoices (profile, id, own_id, state, fetched_at, paid, final, answer)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (profile, id) DO UPDATE SET own_id = excluded.own_id, state = excluded.state,
              fetched_at = excluded.fetched_at, paid = excluded.paid, final = excluded.final, answer = excluded.answer`,
          values: [
            this.profile,
            id,
            ownId,
            this.hide(state),
            fetchedAt,
            Number(isFinal),
            Number(isFinal),
            this.hide(answer),
          ],
        },
        { sql: 'DELETE FROM invoice_lines WHERE profile = ? AND invoice = ?', values: [this.profile, ownId] },
        ...lines.map(({ file, sku, amount, currency }, position) => ({
          sql: `INSERT INTO invoice_lines (profile, invoice, position, file, sku, amount, currency, paid, fetched_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          values: [
            ...[this.profile, ownId, position, file, this.hide(sku), amount, currency],
            ...[Number(isFinal), fetchedAt],
          ],
        })),
      ]);
      await nameSkus(
        db,
        this.profile,
        lines.map(({ file }) => file),
      );
      const naming = namedBy ?? (await this.within(db).#filesNaming(id));
      await updateBills(db, this.profile, [...[...before, ...lines].map(({ file }) => file), ...naming]);
    });
  }

  #filesNaming(id: string): Promise<string[]> {
    return this.ids(
      `SELECT id FROM files WHERE profile = ? AND invoices <> ''
       AND (',' || invoices || ',') LIKE ? ESCAPE '\\'`,
      this.profile,
      `%,${id.replace(/[\\%_]/g, '\\$&')},%`,
    );
  }

  /**
   * The latest last: one that was asked for by several ids may have changed meanwhile. `onlyUnderBudget`: none where this
   * ledger has no budget, which nothing else has to be asked for.
   */
  async all(onlyUnderBudget = false): Promise<KeptInvoice[]> {
    const rows = await this.db.all<InvoiceRow>(
      `SELECT id, own_id, state, final, answer FROM kept_invoices WHERE profile = ?
       AND (? = 0 OR EXISTS (SELECT 1 FROM budgets WHERE budgets.profile = ? AND budget IS NOT NULL)) ORDER BY fetched_at, id`,
      ...[this.profile, Number(onlyUnderBudget), this.profile],
    );
    return rows.map(({ id, own_id: ownId, state, final, answer }) => ({
      id,
      ownId,
      state,
      isFinal: final === 1,
      answer,
    }));
  }
}
