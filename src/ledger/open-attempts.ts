/** Attempts whose end is not known, and how somebody who knows it settles them. */

import type { Sender } from '../lib/sender.ts';
import { AttemptTable, type OrderRow } from './attempt-table.ts';
import { openStatus, type SenderRow, TRACKED } from './claims.ts';
import { refuseMoved } from './moved.ts';
import { audiosOfOrder } from './order-audios.ts';
import { type MissingFiles, missingFiles, type OrderedAudio, type OrderedFile } from './ordered-files.ts';
import { NOW } from './table.ts';

/** An attempt as people see it. */
export interface Attempt {
  readonly attempt: number;
  readonly status: 'placed' | 'refused' | 'unclear' | 'being sent';
  readonly at: string;
  readonly urls: readonly string[];
  readonly skus: readonly string[];
  /** The process that sends or sent it; an empty host: not known. */
  readonly by: Sender;
  /** Empty where no order is known. */
  readonly order: string;
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

interface AttemptRow extends SenderRow {
  readonly id: number;
  readonly status: 'sending' | 'placed' | 'refused' | 'uncertain';
  readonly started_at: string;
  readonly order_id: string | null;
  readonly detail: string | null;
  readonly skus: string;
}

const columns = `id, status, started_at, order_id, detail, skus, "user", host, pid, job, process_start, seen_at, ${NOW} AS now`;

export class OpenAttempts extends AttemptTable {
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
    return (await this.#rows()).filter((row) => openStatus(row.status, row, this.db.isShared) === status)
      .length;
  }

  #rows(): Promise<AttemptRow[]> {
    return this.db.all<AttemptRow>(
      `SELECT ${columns} FROM attempts
       WHERE profile = ? AND status IN ('sending', 'uncertain') AND test = 0 ORDER BY id DESC`,
      this.profile,
    );
  }

  async get(attempt: number): Promise<Attempt | undefined> {
    const row = await this.db.get<AttemptRow>(
      `SELECT ${columns} FROM attempts WHERE profile = ? AND id = ? AND test = 0`,
      this.profile,
      attempt,
    );
    return row && this.#attemptOf(row);
  }

  async #attemptOf(row: AttemptRow): Promise<Attempt> {
    const { id, status, started_at, order_id, detail, skus, user, host, pid, job } = row;
    const isOpen = status === 'sending' || status === 'uncertain';
    return {
      attempt: id,
      status: isOpen ? openStatus(status, row, this.db.isShared) : status,
      at: started_at,
      urls: (await this.audios(id)).map(({ url }) => url),
      skus: skus ? skus.split(',') : [],
      by: { user, host, pid, job },
      order: order_id ?? '',
      detail: detail ?? '',
      later: isOpen ? await this.#later(id) : [],
    };
  }

  async #later(attempt: number): Promise<LaterOrder[]> {
    const rows = await this.db.all<{ order_id: string | null; detail: string | null }>(
      `SELECT order_id, detail FROM attempts WHERE profile = ? AND status = 'placed' AND test = 0 AND id IN (
         SELECT other.attempt FROM attempt_names AS own
         CROSS JOIN attempt_names AS other ON other.name = own.name AND other.attempt > own.attempt
         WHERE own.attempt = ?) ORDER BY id`,
      this.profile,
      attempt,
    );
    return rows.map(({ order_id, detail }) => ({ order: order_id ?? '', tracked: detail === TRACKED }));
  }

  /** Another attempt that was placed as this order; one that stands for a file of `track` may be this very order. */
  async otherOfOrder(order: string, attempt: number): Promise<number | undefined> {
    const row = await this.db.get<{ id: number }>(
      `SELECT id FROM attempts WHERE profile = ? AND order_id = ? AND id <> ? AND test = 0 AND status <> 'refused'
         AND detail IS DISTINCT FROM ? ORDER BY id LIMIT 1`,
      this.profile,
      order,
      attempt,
      TRACKED,
    );
    return row?.id;
  }

  /** Which files of an order are not known; nothing if none is missing, or if the order was only taken in with `track`. */
  async missingFiles(order: string): Promise<MissingFiles | undefined> {
    const audios = await audiosOfOrder(this.db, this.profile, order);
    const files = await this.db.all<OrderedAudio>(
      'SELECT url, key FROM files WHERE profile = ? AND order_id = ? AND test = 0',
      this.profile,
      order,
    );
    return missingFiles(audios, files);
  }

  /** What an attempt was to order, as it is kept. */
  audios(attempt: number): Promise<OrderedAudio[]> {
    return this.db.all<OrderedAudio>(
      'SELECT url, key, details FROM attempt_urls WHERE attempt = ? ORDER BY position',
      attempt,
    );
  }

  /** Those of these attempts that a process is sending right now. */
  async beingSent(attempts: readonly number[]): Promise<ReadonlySet<number>> {
    const rows = await this.db.all<AttemptRow>(
      `SELECT ${columns} FROM attempts WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`,
      JSON.stringify(attempts),
    );
    return new Set(
      rows
        .filter((row) => openStatus(row.status, row, this.db.isShared) === 'being sent')
        .map(({ id }) => id),
    );
  }

  /** It was placed after all. False if its end is known already. */
  settlePlaced(attempt: number, order: string, files: readonly OrderedFile[]): Promise<boolean> {
    return this.db.durable(async (db) => {
      await refuseMoved(db, this.profile);
      const tables = this.within(db);
      if (!(await tables.#settle(attempt, 'placed', order))) return false;
      const row = await db.get<Omit<OrderRow, 'id'>>(
        `SELECT started_at AS at, skus, names, notes,
           (SELECT hold FROM orders WHERE orders.profile = attempts.profile AND orders.id = order_id) AS hold
         FROM attempts WHERE id = ?`,
        attempt,
      );
      if (row) await db.batch(tables.addingOrder(attempt, { ...row, id: order }, files, false));
      return true;
    });
  }

  /** It was not placed: its audios may be ordered again. False if its end is known already. */
  settleNotPlaced(attempt: number): Promise<boolean> {
    return this.db.durable(async (db) => {
      await refuseMoved(db, this.profile);
      const tables = this.within(db);
      const settled = await tables.#settle(attempt, 'refused', null);
      if (settled) await tables.claims.release(attempt);
      return settled;
    });
  }

  async #settle(attempt: number, status: 'placed' | 'refused', order: string | null): Promise<boolean> {
    const changed = await this.db.run(
      `UPDATE attempts SET status = ?, order_id = ?, detail = 'settled by hand', ended_at = ${NOW}
       WHERE id = ? AND profile = ? AND status IN ('sending', 'uncertain')`,
      status,
      order,
      attempt,
      this.profile,
    );
    return changed > 0;
  }

  /** A URL as the ledger keeps it, to compare it with one that is kept. */
  kept(url: string): string {
    return this.hide(url);
  }
}
