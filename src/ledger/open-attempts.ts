/** Purchases whose end is not known, and how somebody who knows it settles them. */
import { randomUUID } from 'node:crypto';
import { thisSender } from '../lib/sender.ts';
import { renewInvoices, updateBills } from './billing.ts';
import { givingNames } from './claims.ts';
import { refuseMoved } from './moved.ts';
import {
  audiosOf,
  itemsOfOrder,
  type MissingFiles,
  missingFiles,
  type OrderedAudio,
  type OrderedFile,
} from './ordered-files.ts';
import { IS_ACCEPTED, type PurchaseKind } from './purchase.ts';
import { PurchaseTable, SAID, takeFilesBack, type Verdict } from './purchase-table.ts';
import {
  PURCHASE_COLUMNS,
  type PurchaseRow,
  type ShownPurchase,
  shownPurchase,
  shownStatus,
} from './shown-purchase.ts';
import { NOW } from './table.ts';
import { deriveUpgrades } from './upgrades.ts';

export interface Attempt extends ShownPurchase {
  readonly urls: readonly string[];
  /** The paths of its recordings, on the machine that uploaded them. */
  readonly sources: readonly string[];
  /** What tells its audios from others in place of their URLs, where something does. */
  readonly keys: readonly string[];
  /** The files of an upgrade or a refund, and those of an order that are known. */
  readonly files: readonly string[];
  /** The service itself has named the order, or files of it. */
  readonly isAccepted: boolean;
  /** Somebody has said how it ended. */
  readonly isSettled: boolean;
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
  EXISTS (SELECT 1 ${SAID}) AS settled`;

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
    const { id, status, accepted, settled } = row;
    const items = await this.db.all<Record<'url' | 'key' | 'file' | 'source', string>>(
      'SELECT url, key, file, source FROM purchase_items WHERE purchase = ? ORDER BY position',
      id,
    );
    const all = (column: 'url' | 'key' | 'file' | 'source'): string[] =>
      items.flatMap((item) => item[column] || []);
    return {
      ...shownPurchase(row, this.db.isShared),
      ...{ urls: all('url'), sources: all('source'), keys: all('key'), files: all('file') },
      ...{ isAccepted: Boolean(accepted), isSettled: Boolean(settled) },
      later: status === 'sending' || status === 'uncertain' ? await this.#later(id) : [],
    };
  }

  async #later(purchase: string): Promise<LaterOrder[]> {
    const rows = await this.db.all<{ order_id: string; tracked: number }>(
      `SELECT order_id, tracked FROM purchases
       WHERE profile = ? AND kind = 'order' AND status = 'placed' AND test = 0 AND id IN (
         SELECT other.purchase FROM item_names AS own
         CROSS JOIN item_names AS other ON other.profile = own.profile AND other.name = own.name
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
      if (!(await tables.#settle(attempt, 'placed', order))) return false;
      const { id, kind, at } = attempt;
      if (kind === 'order') {
        const [places, row] = await Promise.all([
          tables.places(id),
          db.get<{ hold: string | null }>('SELECT hold FROM purchases WHERE id = ?', id),
        ]);
        const answered = { id: order, hold: row?.hold ?? null, at, test: false, isNamed: false };
        await db.batch(tables.addingFiles(id, answered, files, places));
      } else {
        await tables.changeFile(kind, attempt.files[0] ?? '');
        await renewInvoices(db, this.profile, attempt.files);
      }
      await updateBills(db, this.profile, [...attempt.files, ...files.map((file) => file.id)]);
      return true;
    });
  }

  /** It was not placed: its audios may be ordered again. False if its end is known already. */
  settleNotPlaced(attempt: Attempt): Promise<boolean> {
    return this.db.durable(async (db) => {
      if (!(await this.within(db).#settle(attempt, 'not placed', ''))) return false;
      // What was taken for its cost is that of others.
      await updateBills(db, this.profile, attempt.files);
      return true;
    });
  }

  async #settle({ id }: Attempt, verdict: Verdict, order: string): Promise<boolean> {
    await refuseMoved(this.db, this.profile);
    const open = await this.db.get(
      `SELECT 1 FROM purchases WHERE id = ? AND profile = ? AND status IN ('sending', 'uncertain')
       AND (? = 'placed' OR NOT ${IS_ACCEPTED})`,
      ...[id, this.profile, verdict],
    );
    if (!open) return false;
    await this.#say(id, verdict, order);
    await this.db.batch([
      { sql: `UPDATE purchases SET ended_at = coalesce(ended_at, ${NOW}) WHERE id = ?`, values: [id] },
      ...this.deriving(id),
    ]);
    return true;
  }

  /** What is said later counts as later, whatever the clocks of the machines say. */
  async #say(purchase: string, verdict: Verdict, order = ''): Promise<void> {
    const last = await this.db.get<{ at: string | null }>(
      'SELECT max(said_at) AS at FROM settlements WHERE purchase = ?',
      purchase,
    );
    const [now, after] = [this.timestamp(), last?.at ? new Date(Date.parse(last.at) + 1).toISOString() : ''];
    await this.db.run(
      'INSERT INTO settlements (id, purchase, verdict, order_id, said_at, said_by) VALUES (?, ?, ?, ?, ?, ?)',
      ...[randomUUID(), purchase, verdict, order, now > after ? now : after, thisSender()],
    );
  }

  /** What was said of it was mistaken: its end is not known any more. False where nobody has said anything. */
  reopen({ id, kind, files }: Attempt): Promise<boolean> {
    return this.db.durable(async (db) => {
      await refuseMoved(db, this.profile);
      if (!(await db.get(`SELECT 1 FROM purchases WHERE id = ? AND EXISTS (SELECT 1 ${SAID})`, id)))
        return false;
      const tables = this.within(db);
      await tables.#say(id, 'reopened');
      await db.batch([...tables.deriving(id), ...givingNames(this.profile, [id], true)]);
      await tables.#takeBack(id, kind, files[0] ?? '');
      if (kind !== 'order') await renewInvoices(db, this.profile, files);
      const left = await db.all<{ file: string }>('SELECT file FROM purchase_items WHERE purchase = ?', id);
      await updateBills(db, this.profile, [...new Set([...files, ...left.map(({ file }) => file)])]);
      return true;
    });
  }

  /** Undoes what a settlement has changed about files, unless the service has said the same. */
  async #takeBack(id: string, kind: PurchaseKind, file: string): Promise<void> {
    if (kind === 'order') {
      // From now on: an older copy of the ledger must not bring the files back.
      await this.db.run(
        `UPDATE purchase_items SET file_at = ${NOW} WHERE purchase = ? AND file <> named`,
        id,
      );
      await takeFilesBack(this.db, '?', id);
    } else if (kind === 'upgrade') await deriveUpgrades(this.db, this.profile, [file]);
    // The service says what it is in.
    else
      await this.db.run(
        `UPDATE files SET state = '', ended = '', checked_at = NULL WHERE profile = ? AND id = ? AND state = 'Refunded'
           AND NOT EXISTS (SELECT 1 FROM purchases WHERE id = ? AND status = 'placed')`,
        ...[this.profile, file, id],
      );
  }

  /** A URL as the ledger keeps it, to compare it with one that is kept. */
  kept(url: string): string {
    return this.hide(url);
  }
}
