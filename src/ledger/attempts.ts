/** Every order that was tried: on disk before it is sent, so that a crash or a power cut leaves a trace. */
import type { Database } from '../lib/sqlite.ts';
import { urlKey } from './url-key.ts';

export interface NewOrder {
  readonly urls: readonly string[];
  readonly skus: readonly string[];
  readonly names: readonly string[];
  readonly notes?: string | undefined;
  readonly test: boolean;
}

export interface Placed {
  readonly id: string;
  readonly audiofiles: readonly string[];
  readonly hold: string | undefined;
}

/** An earlier try at a URL that is on order, or of which nobody knows. */
export interface Earlier {
  readonly url: string;
  readonly status: 'sending' | 'placed' | 'uncertain';
  readonly order: string;
  readonly at: string;
}

export interface Unclear {
  readonly at: string;
  readonly urls: string;
}

export class Attempts {
  readonly #db: Database;
  readonly #profile: string;
  readonly #hide: (text: string) => string;

  constructor(db: Database, profile: string, hide: (text: string) => string) {
    this.#db = db;
    this.#profile = profile;
    this.#hide = hide;
  }

  /** What is known of these URLs; test orders do not count. */
  earlier(urls: readonly string[]): Earlier[] {
    return urls.flatMap((url) => this.#earlier(url) ?? []);
  }

  /**
   * Writes an attempt down, unless one of its URLs was tried before: then it tells which, and writes nothing.
   * Of processes that do this at the same moment, one gets through.
   */
  begin(order: NewOrder, options: { readonly again: boolean }): number | Earlier[] {
    return this.#db.durable(() => {
      const earlier = order.test || options.again ? [] : this.earlier(order.urls);
      if (earlier.length) return earlier;
      const row = this.#db.get<{ id: number }>(
        "INSERT INTO attempts (profile, status, test, started_at) VALUES (?, 'sending', ?, ?) RETURNING id",
        this.#profile,
        Number(order.test),
        new Date().toISOString(),
      );
      const attempt = Number(row?.id);
      for (const url of order.urls) {
        this.#db.run(
          'INSERT INTO attempt_urls (attempt, url, url_key) VALUES (?, ?, ?)',
          attempt,
          this.#hide(url),
          this.#hide(urlKey(url)),
        );
      }
      return attempt;
    });
  }

  /** The service accepted it: its order and files are known from now on. */
  placed(attempt: number, order: NewOrder, placed: Placed): void {
    const now = new Date().toISOString();
    this.#db.durable(() => {
      this.#end(attempt, 'placed', placed.id, null);
      this.#db.run(
        `INSERT INTO orders (profile, id, placed_at, skus, names, notes, hold) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (profile, id) DO UPDATE SET hold = excluded.hold`,
        this.#profile,
        placed.id,
        now,
        order.skus.join(','),
        this.#hide(order.names.join('|')),
        this.#hide(order.notes ?? ''),
        placed.hold === undefined ? null : this.#hide(placed.hold),
      );
      const inStep = placed.audiofiles.length === order.urls.length;
      placed.audiofiles.forEach((id, at) => {
        this.#addFile(id, inStep ? (order.urls[at] ?? '') : '', order.test, placed, now);
      });
    });
  }

  /** An id that was given before is under way anew; but a test never takes the place of a real file. */
  #addFile(id: string, url: string, test: boolean, { id: order, hold }: Placed, now: string): void {
    this.#db.run(
      `INSERT INTO files (profile, id, order_id, url, test, state, ordered_at) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (profile, id) DO UPDATE SET order_id = excluded.order_id, url = excluded.url,
         test = excluded.test, state = excluded.state, ended = '', ordered_at = excluded.ordered_at
       WHERE excluded.test <= files.test`,
      this.#profile,
      id,
      order,
      this.#hide(url),
      Number(test),
      hold ? 'On Hold' : '',
      now,
    );
  }

  /** It was clearly not accepted: its URLs may be ordered again. */
  refused(attempt: number, detail: string): void {
    this.#db.durable(() => this.#end(attempt, 'refused', null, detail));
  }

  /** Nobody knows whether it was accepted. */
  uncertain(attempt: number, detail: string): void {
    this.#db.durable(() => this.#end(attempt, 'uncertain', null, detail));
  }

  /** Attempts whose outcome is unknown and that no later order has settled. */
  unclear(): Unclear[] {
    return this.#db.all<Unclear>(
      `SELECT started_at AS at, (SELECT group_concat(url, ' ') FROM attempt_urls WHERE attempt = attempts.id) AS urls
       FROM attempts WHERE profile = ? AND status IN ('sending', 'uncertain') AND test = 0
       AND EXISTS (SELECT 1 FROM attempt_urls mine WHERE mine.attempt = attempts.id AND NOT EXISTS (
         SELECT 1 FROM attempt_urls other JOIN attempts later ON later.id = other.attempt
         WHERE other.url_key = mine.url_key AND later.profile = attempts.profile
         AND later.id > attempts.id AND later.status = 'placed'))
       ORDER BY id DESC LIMIT 20`,
      this.#profile,
    );
  }

  /** What is certain counts more than what is not, and the latest most. */
  #earlier(url: string): Earlier | undefined {
    const row = this.#db.get<{ status: Earlier['status']; order_id: string | null; started_at: string }>(
      `SELECT status, order_id, started_at FROM attempt_urls JOIN attempts ON attempts.id = attempt
       WHERE url_key = ? AND profile = ? AND test = 0 AND status <> 'refused'
       ORDER BY status = 'placed' DESC, attempts.id DESC LIMIT 1`,
      this.#hide(urlKey(url)),
      this.#profile,
    );
    return row && { url, status: row.status, order: row.order_id ?? '', at: row.started_at };
  }

  #end(attempt: number, status: string, order: string | null, detail: string | null): void {
    this.#db.run(
      'UPDATE attempts SET status = ?, order_id = ?, detail = ?, ended_at = ? WHERE id = ?',
      status,
      order,
      detail === null ? null : this.#hide(detail),
      new Date().toISOString(),
      attempt,
    );
  }
}
