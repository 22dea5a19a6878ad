/** Every attempt to order: on disk before it is sent, so that a crash or a power cut leaves a trace. */

import { oneLine } from '../lib/text.ts';
import { Table, timestamp } from './table.ts';
import { urlKey } from './url-key.ts';

const MAX_DETAIL_LENGTH = 600;

export interface NewOrder {
  readonly urls: readonly string[];
  readonly skus: readonly string[];
  readonly names: readonly string[];
  readonly notes?: string | undefined;
  readonly test: boolean;
}

export interface PlacedOrder {
  readonly id: string;
  readonly audiofiles: readonly string[];
  readonly hold: string | undefined;
}

/** An attempt to order a URL that was placed, or whose outcome is not known. */
export interface PreviousAttempt {
  readonly url: string;
  readonly status: 'sending' | 'placed' | 'uncertain';
  readonly order: string;
  readonly at: string;
}

/** `begun` is the number of the new attempt. Where previous attempts refuse it, nothing was written. */
export type BeginResult = { readonly begun: number } | { readonly refusedBy: readonly PreviousAttempt[] };

export interface UnclearAttempt {
  readonly at: string;
  readonly urls: string;
}

export class Attempts extends Table {
  /** Previous attempts to order these URLs; test orders do not count. */
  previous(urls: readonly string[]): PreviousAttempt[] {
    return urls.flatMap((url) => this.#previous(url) ?? []);
  }

  /** Writes an attempt, unless one of its URLs was tried before. Of processes that do this at the same time, one succeeds. */
  begin(order: NewOrder, options: { readonly again: boolean }): BeginResult {
    return this.db.durable(() => {
      const refusedBy = order.test || options.again ? [] : this.previous(order.urls);
      if (refusedBy.length) return { refusedBy };
      const row = this.db.get<{ id: number }>(
        "INSERT INTO attempts (profile, status, test, started_at) VALUES (?, 'sending', ?, ?) RETURNING id",
        this.profile,
        Number(order.test),
        timestamp(),
      );
      const begun = Number(row?.id);
      for (const url of order.urls) {
        this.db.run(
          'INSERT INTO attempt_urls (attempt, url, url_key) VALUES (?, ?, ?)',
          begun,
          this.hide(url),
          this.hide(urlKey(url)),
        );
      }
      return { begun };
    });
  }

  /** The service accepted it: keeps the order and its files. */
  markPlaced(attempt: number, order: NewOrder, placed: PlacedOrder): void {
    const now = timestamp();
    this.db.durable(() => {
      this.#end(attempt, 'placed', placed.id, null);
      this.db.run(
        `INSERT INTO orders (profile, id, placed_at, skus, names, notes, hold) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (profile, id) DO UPDATE SET hold = excluded.hold`,
        this.profile,
        placed.id,
        now,
        order.skus.join(','),
        this.hide(order.names.join('|')),
        this.hide(order.notes ?? ''),
        placed.hold === undefined ? null : this.hide(placed.hold),
      );
      // Files come in the order of the URLs; if their numbers differ, it is not known which file is which URL's.
      const inStep = placed.audiofiles.length === order.urls.length;
      placed.audiofiles.forEach((id, at) => {
        this.#addFile(id, inStep ? (order.urls[at] ?? '') : '', order.test, placed, now);
      });
    });
  }

  /** A known id is open again, as a file of the new order; but a test never replaces a real file. */
  #addFile(id: string, url: string, test: boolean, { id: order, hold }: PlacedOrder, now: string): void {
    this.db.run(
      `INSERT INTO files (profile, id, order_id, url, test, state, ordered_at) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (profile, id) DO UPDATE SET order_id = excluded.order_id, url = excluded.url,
         test = excluded.test, state = excluded.state, ended = '', ordered_at = excluded.ordered_at
       WHERE excluded.test <= files.test`,
      this.profile,
      id,
      order,
      this.hide(url),
      Number(test),
      hold ? 'On Hold' : '',
      now,
    );
  }

  /** It was clearly not accepted: its URLs may be ordered again. */
  markRefused(attempt: number, detail: string): void {
    this.db.durable(() => this.#end(attempt, 'refused', null, detail));
  }

  /** It may have been accepted. */
  markUncertain(attempt: number, detail: string): void {
    this.db.durable(() => this.#end(attempt, 'uncertain', null, detail));
  }

  /** Attempts whose outcome is unknown, except where a later order of the same URLs was placed. */
  unclear(): UnclearAttempt[] {
    return this.db.all<UnclearAttempt>(
      `SELECT started_at AS at, (SELECT group_concat(url, ' ') FROM attempt_urls WHERE attempt = attempts.id) AS urls
       FROM attempts WHERE profile = ? AND status IN ('sending', 'uncertain') AND test = 0
       AND EXISTS (SELECT 1 FROM attempt_urls mine WHERE mine.attempt = attempts.id AND NOT EXISTS (
         SELECT 1 FROM attempt_urls other JOIN attempts later ON later.id = other.attempt
         WHERE other.url_key = mine.url_key AND later.profile = attempts.profile
         AND later.id > attempts.id AND later.status = 'placed'))
       ORDER BY id DESC LIMIT 20`,
      this.profile,
    );
  }

  /** A placed one before one whose outcome is unknown, and the latest of either. */
  #previous(url: string): PreviousAttempt | undefined {
    const row = this.db.get<{
      status: PreviousAttempt['status'];
      order_id: string | null;
      started_at: string;
    }>(
      `SELECT status, order_id, started_at FROM attempt_urls JOIN attempts ON attempts.id = attempt
       WHERE url_key = ? AND profile = ? AND test = 0 AND status <> 'refused'
       ORDER BY status = 'placed' DESC, attempts.id DESC LIMIT 1`,
      this.hide(urlKey(url)),
      this.profile,
    );
    return row && { url, status: row.status, order: row.order_id ?? '', at: row.started_at };
  }

  #end(attempt: number, status: string, order: string | null, detail: string | null): void {
    this.db.run(
      'UPDATE attempts SET status = ?, order_id = ?, detail = ?, ended_at = ? WHERE id = ?',
      status,
      order,
      detail === null ? null : oneLine(this.hide(detail), MAX_DETAIL_LENGTH),
      timestamp(),
      attempt,
    );
  }
}
