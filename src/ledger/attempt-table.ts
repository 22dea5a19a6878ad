/** How attempts, orders and their files are written; the base of the tables that do so. */
import { ciJobUrl } from '../lib/ci-job.ts';
import { thisProcess, userName } from '../lib/processes.ts';
import { detailsText } from './audio-details.ts';
import { spellingOf, storedName } from './audio-names.ts';
import { Claims } from './claims.ts';
import { NAMED_BY_ATTEMPT, type NewOrder } from './new-order.ts';
import type { OrderedFile } from './ordered-files.ts';
import type { Statement, Value } from './store.ts';
import { NOW, Table, type TableContext } from './table.ts';

/** An order as it is kept. */
export interface OrderRow {
  readonly id: string;
  readonly at: string;
  readonly skus: string;
  readonly names: string;
  readonly notes: string;
  readonly hold: string | null;
}

/** How an attempt ended that the service accepted. */
export interface AttemptEnd {
  readonly status: 'placed' | 'uncertain';
  readonly order: string;
  readonly detail: string | null;
}

export abstract class AttemptTable extends Table {
  protected readonly claims: Claims;

  constructor(context: TableContext) {
    super(context);
    this.claims = new Claims(context);
  }

  /** Writes a new attempt. It is found by its token: its number is not known before. */
  protected newAttempt({ audios, skus, names, notes, test, cost }: NewOrder, token: string): Statement[] {
    const { host, pid, start } = thisProcess();
    const attempt: Statement = {
      sql: `INSERT INTO attempts (profile, status, test, started_at, token, "user", host, pid, process_start, job, seen_at,
          skus, names, notes, cost, currency)
        VALUES (?, 'sending', ?, ${NOW}, ?, ?, ?, ?, ?, ?, ${NOW}, ?, ?, ?, ?, ?)`,
      values: [
        ...[
          this.profile,
          Number(test),
          token,
          userName(),
          host,
          pid,
          start,
          this.hide(ciJobUrl(process.env)),
        ],
        ...[skus.join(','), this.hide(names.join('|')), this.hide(notes ?? '')],
        ...[cost?.millionths ?? null, cost?.currency ?? ''],
      ],
    };
    const urls = audios.map(({ url, key, details, names: [first = ''] }, position) => [
      ...[position, this.hide(url), storedName(this.hide(first)), this.hide(key ?? ''), spellingOf(url)],
      detailsText(details, this.hide),
    ]);
    const ofAudios = audios.flatMap((audio, position) =>
      audio.names.map((name) => [storedName(this.hide(name)), position]),
    );
    return [
      attempt,
      ...rowStatements(
        urls,
        token,
        `INSERT INTO attempt_urls (attempt, position, url, url_key, key, spelling, details)
         SELECT attempts.id, CAST(column1 AS INTEGER), column2, column3, column4, column5, column6`,
      ),
      ...rowStatements(
        ofAudios,
        token,
        `INSERT INTO attempt_names (attempt, name, position)
         SELECT attempts.id, column1, CAST(column2 AS INTEGER)`,
        'ON CONFLICT DO NOTHING',
      ),
    ];
  }

  protected endingAttempt(attempt: number, { status, order, detail }: AttemptEnd): Statement {
    return {
      sql: `UPDATE attempts SET status = ?, order_id = ?, detail = ?, ended_at = ${NOW} WHERE id = ?`,
      values: [status, order, detail, attempt],
    };
  }

  /** With what is known of who ordered it. */
  protected addingOrder(
    attempt: number,
    row: OrderRow,
    files: readonly OrderedFile[],
    test: boolean,
  ): Statement[] {
    const { id, at, skus, names, notes, hold } = row;
    const order: Statement = {
      sql: `INSERT INTO orders (profile, id, placed_at, skus, names, notes, hold, "user", host, job)
        SELECT ?, ${id ? '?' : NAMED_BY_ATTEMPT}, ?, ?, ?, ?, ?, "user", host, job FROM attempts WHERE id = ?
        ON CONFLICT (profile, id) DO UPDATE SET hold = excluded.hold`,
      values: [this.profile, ...(id ? [id] : []), at, skus, names, notes, hold, attempt],
    };
    return [order, ...files.map((file) => this.#addingFile(file, row, attempt, test))];
  }

  /** A known id is open again, as a file of the new order; but a test never replaces a real file. */
  #addingFile({ id, audio }: OrderedFile, order: OrderRow, attempt: number, test: boolean): Statement {
    const name = order.id ? '?' : `(SELECT ${NAMED_BY_ATTEMPT} FROM attempts WHERE id = ?)`;
    return {
      sql: `INSERT INTO files (profile, id, order_id, url, key, details, test, state, ordered_at)
        VALUES (?, ?, ${name}, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (profile, id) DO UPDATE SET order_id = excluded.order_id, url = excluded.url, key = excluded.key,
          details = excluded.details, test = excluded.test, state = excluded.state, ended = '', ordered_at = excluded.ordered_at
        WHERE excluded.test <= files.test`,
      values: [
        ...[this.profile, id, order.id || attempt, audio?.url ?? '', audio?.key ?? '', audio?.details ?? ''],
        Number(test),
        ...[order.hold === null ? '' : 'On Hold', order.at],
      ],
    };
  }
}

/** SQLite takes 32,766 values in a statement. */
const ROWS_PER_STATEMENT = 2_000;

/** Inserts rows that belong to the attempt of a token; `insert` names their values `column1`, `column2` and so on. */
function rowStatements(
  rows: readonly (readonly Value[])[],
  token: string,
  insert: string,
  onConflict = '',
): Statement[] {
  const statements: Statement[] = [];
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) {
    const some = rows.slice(at, at + ROWS_PER_STATEMENT);
    const places = some.map((row) => `(${row.map(() => '?').join(', ')})`).join(', ');
    const sql = `${insert} FROM attempts, (VALUES ${places}) AS given WHERE attempts.token = ? ${onConflict}`;
    statements.push({ sql, values: [...some.flat(), token] });
  }
  return statements;
}
