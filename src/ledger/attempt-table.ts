/** How attempts, orders and their files are written; the base of the tables that do so. */
import { thisProcess, userName } from '../lib/processes.ts';
import { type Audio, spellingOf, storedName } from './audio-names.ts';
import { Claims } from './claims.ts';
import type { OrderedFile } from './ordered-files.ts';
import { Table, type TableContext, timestamp } from './table.ts';

export interface NewOrder {
  readonly audios: readonly Audio[];
  readonly skus: readonly string[];
  /** Of the speakers. */
  readonly names: readonly string[];
  readonly notes?: string | undefined;
  readonly test: boolean;
}

/** An order as it is kept. */
export interface OrderRow {
  readonly id: string;
  readonly at: string;
  readonly skus: string;
  readonly names: string;
  readonly notes: string;
  readonly hold: string | null;
}

export abstract class AttemptTable extends Table {
  protected readonly claims: Claims;

  constructor(context: TableContext) {
    super(context);
    this.claims = new Claims(context);
  }

  /** Gives the number of the new attempt. */
  protected addAttempt({ audios, skus, names, notes, test }: NewOrder): number {
    const { host, pid, start } = thisProcess();
    const now = timestamp();
    const row = this.db.get<{ id: number }>(
      `INSERT INTO attempts (profile, status, test, started_at, token, user, host, pid, process_start, seen_at,
         skus, names, notes)
       VALUES (?, 'sending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
      this.profile,
      Number(test),
      now,
      process.getBuiltinModule('node:crypto').randomUUID(),
      userName(),
      host,
      pid,
      start,
      now,
      skus.join(','),
      this.hide(names.join('|')),
      this.hide(notes ?? ''),
    );
    const attempt = Number(row?.id);
    audios.forEach((audio, position) => {
      this.#addAudio(attempt, audio, position);
    });
    return attempt;
  }

  #addAudio(attempt: number, { url, key, names }: Audio, position: number): void {
    const [first = ''] = names;
    this.db.run(
      'INSERT INTO attempt_urls (attempt, position, url, url_key, key, spelling) VALUES (?, ?, ?, ?, ?, ?)',
      attempt,
      position,
      this.hide(url),
      storedName(this.hide(first)),
      this.hide(key ?? ''),
      spellingOf(url),
    );
    for (const name of names) {
      this.db.run(
        'INSERT OR IGNORE INTO attempt_names (name, attempt, position) VALUES (?, ?, ?)',
        storedName(this.hide(name)),
        attempt,
        position,
      );
    }
  }

  protected endAttempt(
    attempt: number,
    status: 'placed' | 'uncertain',
    order: string,
    detail: string | null,
  ): void {
    this.db.run(
      'UPDATE attempts SET status = ?, order_id = ?, detail = ?, ended_at = ? WHERE id = ?',
      status,
      order,
      detail,
      timestamp(),
      attempt,
    );
  }

  protected addOrder(row: OrderRow, files: readonly OrderedFile[], test: boolean): void {
    const { id, at, skus, names, notes, hold } = row;
    this.db.run(
      `INSERT INTO orders (profile, id, placed_at, skus, names, notes, hold) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (profile, id) DO UPDATE SET hold = excluded.hold`,
      this.profile,
      id,
      at,
      skus,
      names,
      notes,
      hold,
    );
    for (const file of files) this.#addFile(file, row, test);
  }

  /** A known id is open again, as a file of the new order; but a test never replaces a real file. */
  #addFile({ id, audio }: OrderedFile, order: OrderRow, test: boolean): void {
    this.db.run(
      `INSERT INTO files (profile, id, order_id, url, key, test, state, ordered_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (profile, id) DO UPDATE SET order_id = excluded.order_id, url = excluded.url, key = excluded.key,
         test = excluded.test, state = excluded.state, ended = '', ordered_at = excluded.ordered_at
       WHERE excluded.test <= files.test`,
      this.profile,
      id,
      order.id,
      audio?.url ?? '',
      audio?.key ?? '',
      Number(test),
      order.hold === null ? '' : 'On Hold',
      order.at,
    );
  }
}
