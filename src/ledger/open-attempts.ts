/** Purchases whose end is not known, and how somebody who knows it settles them. */
import { randomUUID } from 'node:crypto';
import { type Sender, thisSender } from '../lib/sender.ts';
import { renewInvoices, updateBills } from './billing.ts';
import { deriveHolders, PURCHASE_COLUMNS, type PurchaseRow, shownStatus } from './claims.ts';
import { refuseMoved } from './moved.ts';
import {
  audiosOf,
  itemsOfOrder,
  type MissingFiles,
  missingFiles,
  type OrderedAudio,
  type OrderedFile,
} from './ordered-files.ts';
import { IS_ACCEPTED, type PurchaseKind, parseDetails } from './purchase.ts';
import { PurchaseTable, takeFilesBack } from './purchase-table.ts';
import type { Store } from './stores/store.ts';
import { NOW } from './table.ts';

/** An attempt as people see it. */
export interface Attempt {
  readonly id: string;
  /** Its number. */
  readonly attempt: number;
  readonly kind: PurchaseKind;
  /** The raw call of `steno api`; empty where it was none. */
  readonly via: string;
  readonly status: 'placed' | 'refused' | 'unclear' | 'being sent';
  readonly at: string;
  readonly urls: readonly string[];
  /** The paths of its recordings, on the machine that uploaded them. */
  readonly sources: readonly string[];
  /** What tells its audios from others in place of their URLs, where something does. */
  readonly keys: readonly string[];
  /** The files of an upgrade or a refund, and those of an order that are known. */
  readonly files: readonly string[];
  readonly skus: readonly string[];
  /** The process that sends or sent it; an empty host: not known. */
  readonly by: Sender;
  /** Who started the CI job that sent it; empty outside of CI. */
  readonly actor: string;
  /** Empty where no order is known. */
  readonly order: string;
  /** The service itself has named the order, or files of it. */
  readonly isAccepted: boolean;
  /** Somebody has said how it ended. */
  readonly isSettled: boolean;
  /** What happened. */
  readonly detail: string;
  /** What was ordered of it later, all the same. */
  readonly later: readonly LaterOrder[];
}

/** A later order of one of the audios of an attempt. */
export interface LaterOrder {
  /** Empty where the service named none. */
  readonly order: string;
  /** It was ordered elsewhere, and taken in with `track`. */
  readonly tracked: boolean;
}

interface AttemptRow extends PurchaseRow {
  readonly accepted: number | boolean;
  readonly settled: number | boolean;
}

const columns = `${PURCHASE_COLUMNS}, ${IS_ACCEPTED} AS accepted,
  EXISTS (SELECT 1 FROM settlements WHERE purchase = purchases.id AND undone_at IS NULL) AS settled`;

export class OpenAttempts extends PurchaseTable {
  /** Newest first; also those that hold no name any more, because what they tried was ordered again later. */
  async list(): Promise<Attempt[]> {
    const attempts: Attempt[] = [];
    for (const row of await this.#rows()) attempts.push(await this.#attemptOf(row));
    return attempts;
  }

  /** Without those that are being sent. */
  countUnclear(): Promise<number> {
    return this.#count('unclear');
  }

  countBeingSent(): Promise<number> {
    return this.#count('being sent');
  }

  async #count(status: 'unclear' | 'being sent'): Promise<number> {
    return (await this.#rows()).filter((row) => shownStatus(row, this.db.isShared) === status).length;
  }

  /** What they may have cost: the sum of what was estimated in millionths, and how many audios have no estimate. */
  async costs(): Promise<ReadonlyArray<{ currency: string; millionths: number; unknown: number }>> {
    const rows = await this.db.all<{ currency: string; millionths: number; unknown: number }>(
      `SELECT items.currency, coalesce(sum(items.estimate), 0) AS millionths, count(*) - count(items.estimate) AS unknown
       FROM purchase_items AS items JOIN purchases ON purchases.id = items.purchase
       WHERE purchases.profile = ? AND purchases.status IN ('sending', 'uncertain') AND purchases.test = 0
       GROUP BY items.currency`,
      this.profile,
    );
    return rows.map(({ currency, millionths, unknown }) => ({
      ...{ currency, millionths: Number(millionths), unknown: Number(unknown) },
    }));
  }

  #rows(): Promise<AttemptRow[]> {
    return this.db.all<AttemptRow>(
      `SELECT ${columns} FROM purchases
       WHERE profile = ? AND status IN ('sending', 'uncertain') AND test = 0 ORDER BY number DESC`,
      this.profile,
    );
  }

  async get(attempt: number): Promise<Attempt | undefined> {
    const row = await this.db.get<AttemptRow>(
      `SELECT ${columns} FROM purchases WHERE profile = ? AND number = ? AND test = 0`,
      this.profile,
      attempt,
    );
    return row && this.#attemptOf(row);
  }

  async #attemptOf(row: AttemptRow): Promise<Attempt> {
    const { id, number, kind, via, status, started_at, order_id, detail, skus, user, host, pid, job, actor } =
      row;
    const isOpen = status === 'sending' || status === 'uncertain';
    const items = await this.db.all<{ url: string; key: string; file: string; details: string }>(
      'SELECT url, key, file, details FROM purchase_items WHERE purchase = ? ORDER BY position',
      id,
    );
    return {
      ...{ id, attempt: number, kind, via },
      status: shownStatus(row, this.db.isShared),
      at: started_at,
      urls: items.flatMap(({ url }) => (url ? [url] : [])),
      sources: items.flatMap(({ details }) => parseDetails(details).source ?? []),
      keys: items.flatMap(({ key }) => (key ? [key] : [])),
      files: items.flatMap(({ file }) => (file ? [file] : [])),
      skus: skus ? skus.split(',') : [],
      by: { user, host, pid, job },
      actor,
      order: order_id,
      isAccepted: Boolean(row.accepted),
      isSettled: Boolean(row.settled),
      detail,
      later: isOpen ? await this.#later(id) : [],
    };
  }

  async #later(purchase: string): Promise<LaterOrder[]> {
    const rows = await this.db.all<{ order_id: string; tracked: number }>(
      `SELECT order_id, tracked FROM purchases
       WHERE profile = ? AND kind = 'order' AND status = 'placed' AND test = 0 AND id IN (
         SELECT other.purchase FROM purchase_names AS own
         CROSS JOIN purchase_names AS other ON other.name = own.name
         WHERE own.purchase = ?)
         AND number > (SELECT number FROM purchases AS own WHERE own.id = ?) ORDER BY number`,
      this.profile,
      purchase,
      purchase,
    );
    return rows.map(({ order_id, tracked }) => ({ order: order_id, tracked: tracked === 1 }));
  }

  /** Another attempt that was placed as this order; one that stands for a file of `track` may be this very order. */
  async otherOfOrder(order: string, { id }: Attempt): Promise<number | undefined> {
    if (!order) return undefined;
    const row = await this.db.get<{ number: number }>(
      `SELECT number FROM purchases WHERE profile = ? AND order_id = ? AND kind = 'order' AND id <> ? AND test = 0
         AND status <> 'refused' AND tracked = 0 ORDER BY number LIMIT 1`,
      this.profile,
      order,
      id,
    );
    return row?.number;
  }

  /** Which files of an order are not known; nothing if none is missing, or if the order was only taken in with `track`. */
  async missingFiles(order: string): Promise<MissingFiles | undefined> {
    return missingFiles(await itemsOfOrder(this.db, this.profile, order));
  }

  /** What an attempt was to order, as it is kept. */
  audios({ id }: Pick<Attempt, 'id'>): Promise<OrderedAudio[]> {
    return audiosOf(this.db, id);
  }

  /** Those of these purchases that a process is sending right now. */
  async beingSent(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.db.all<AttemptRow>(
      `SELECT ${columns} FROM purchases WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(ids),
    );
    return new Set(
      rows.filter((row) => shownStatus(row, this.db.isShared) === 'being sent').map(({ id }) => id),
    );
  }

  /** It was placed after all. False if its end is known already. */
  settlePlaced(attempt: Attempt, order: string, files: readonly OrderedFile[]): Promise<boolean> {
    return this.db.durable(async (db) => {
      const tables = this.within(db);
      if (!(await tables.#settle(attempt, true, order))) return false;
      const { id, kind, at } = attempt;
      if (kind === 'order') {
        const [places, row] = await Promise.all([
          tables.places(id),
          db.get<{ hold: string | null }>('SELECT hold FROM purchases WHERE id = ?', id),
        ]);
        const answered = { id: order, hold: row?.hold ?? null, at, test: false, isNamed: false };
        await db.batch(tables.addingFiles(id, answered, files, places));
      } else {
        await db.batch(tables.changingFile(kind, attempt.files[0] ?? '', attempt.skus.join(',')));
        await renewInvoices(db, this.profile, attempt.files);
      }
      await updateBills(db, this.profile, [...attempt.files, ...files.map((file) => file.id)]);
      return true;
    });
  }

  /** It was not placed: its audios may be ordered again. False if its end is known already. */
  settleNotPlaced(attempt: Attempt): Promise<boolean> {
    return this.db.durable((db) => this.within(db).#settle(attempt, false, ''));
  }

  async #settle({ id }: Attempt, placed: boolean, order: string): Promise<boolean> {
    await refuseMoved(this.db, this.profile);
    const open = await this.db.get(
      `SELECT 1 FROM purchases WHERE id = ? AND profile = ? AND status IN ('sending', 'uncertain')
       AND (? = 1 OR NOT ${IS_ACCEPTED})`,
      ...[id, this.profile, Number(placed)],
    );
    if (!open) return false;
    await this.db.batch([
      {
        sql: `INSERT INTO settlements (id, purchase, placed, order_id, settled_at, settled_by) VALUES (?, ?, ?, ?, ${NOW}, ?)`,
        values: [randomUUID(), id, Number(placed), order, thisSender()],
      },
      { sql: `UPDATE purchases SET ended_at = coalesce(ended_at, ${NOW}) WHERE id = ?`, values: [id] },
      ...this.deriving(id),
    ]);
    return true;
  }

  /** What was said of it was mistaken: its end is not known any more. False where nobody has said anything. */
  reopen({ id, kind, files }: Attempt): Promise<boolean> {
    return this.db.durable(async (db) => {
      await refuseMoved(db, this.profile);
      const undone = await db.run(
        `UPDATE settlements SET undone_at = ${NOW}, undone_by = ? WHERE purchase = ? AND undone_at IS NULL`,
        thisSender(),
        id,
      );
      if (undone === 0) return false;
      const tables = this.within(db);
      await tables.#takeBack(db, id, kind, files);
      await db.batch(tables.deriving(id));
      await deriveHolders(db, this.profile, [id]);
      if (kind !== 'order') await renewInvoices(db, this.profile, files);
      const left = await db.all<{ file: string }>('SELECT file FROM purchase_items WHERE purchase = ?', id);
      await updateBills(db, this.profile, [...new Set([...files, ...left.map(({ file }) => file)])]);
      return true;
    });
  }

  /** Undoes what a settlement has changed about files, unless the service has said the same. */
  async #takeBack(db: Store, id: string, kind: PurchaseKind, files: readonly string[]): Promise<void> {
    if (kind === 'order') {
      // From now on: an older copy of the ledger must not bring the files back.
      await db.run(`UPDATE purchase_items SET file_at = ${NOW} WHERE purchase = ? AND file <> named`, id);
      return takeFilesBack(db, '?', id);
    }
    if (await db.get("SELECT 1 FROM purchases WHERE id = ? AND outcome = 'placed'", id)) return;
    const file = files[0] ?? '';
    if (kind === 'refund')
      // The service says what it is in.
      await db.run(
        "UPDATE files SET state = '', ended = '', checked_at = NULL WHERE profile = ? AND id = ? AND state = 'Refunded'",
        ...[this.profile, file],
      );
    else await this.#takeUpgradeBack(db, id, file);
  }

  /** Of its upgrades, a file keeps the others. */
  async #takeUpgradeBack(db: Store, id: string, file: string): Promise<void> {
    const others = await db.all<{ skus: string }>(
      `SELECT purchases.skus FROM purchase_items AS items CROSS JOIN purchases ON purchases.id = items.purchase
       WHERE items.profile = ? AND items.file <> '' AND items.file = ? AND purchases.kind = 'upgrade' AND purchases.test = 0
         AND purchases.status = 'placed' AND purchases.id <> ? ORDER BY purchases.number`,
      ...[this.profile, file, id],
    );
    const skus = others.map((other) => other.skus).join(',');
    await db.run(
      `UPDATE files SET upgrades = ?, upgraded_at = CASE WHEN ? = '' THEN NULL ELSE upgraded_at END, due_since = '',
         ended = CASE WHEN ? = '' AND ended = '' AND state = 'Delivered' THEN 'delivered' ELSE ended END
       WHERE profile = ? AND id = ?`,
      ...[skus, skus, skus, this.profile, file],
    );
  }

  /** A URL as the ledger keeps it, to compare it with one that is kept. */
  kept(url: string): string {
    return this.hide(url);
  }
}
