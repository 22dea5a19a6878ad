/**
 * Puts rows of an export into the ledger, some at a time, in SQL for many rows at once: over a network each statement
 * costs a round trip. What the ledger does not have is new; what it has is merged: see dump-tables.ts.
 */
import { isRefusedValue } from '../../lib/sqlite.ts';
import type { ChangingColumns, DumpTable } from '../dump-tables.ts';
import { isRefusedRow } from '../stores/postgres-connection.ts';
import type { Store, Value } from '../stores/store.ts';
import { groupBy } from '../table.ts';
import { bringTogether } from './derive.ts';
import { badLine, type ColumnTypes, type Row } from './lines.ts';

export interface Counts {
  readonly new: number;
  /** The ledger had them, and the export knew more. */
  readonly updated: number;
  readonly known: number;
}

export const noRows: Counts = { new: 0, updated: 0, known: 0 };

export const sumOf = (one: Counts, other: Counts): Counts => ({
  new: one.new + other.new,
  updated: one.updated + other.updated,
  known: one.known + other.known,
});

/** A row of the export, and its line. */
export interface StagedRow {
  readonly line: number;
  readonly fields: Row;
}

export class RowMerger {
  readonly #db: Store;
  readonly #types: ColumnTypes;
  /** Purchases that the ledger has under another profile come to the one of the export, with all their rows. */
  readonly #moves: boolean;
  /** Ids by profile of what has to be derived anew, when all rows are there. */
  readonly touchedPurchases = new Map<string, Set<string>>();
  readonly touchedFiles = new Map<string, Set<string>>();

  constructor(db: Store, types: ColumnTypes, moves: boolean) {
    this.#db = db;
    this.#types = types;
    this.#moves = moves;
  }

  /** What the tables refuse is the fault of a line, which is then looked for; any other error is not. */
  async merge(table: DumpTable, rows: readonly StagedRow[]): Promise<Counts> {
    await this.#db.run('SAVEPOINT rows');
    try {
      const counts = await this.#merge(
        table,
        rows.map(({ fields }) => fields),
      );
      await this.#db.run('RELEASE SAVEPOINT rows');
      return counts;
    } catch (error) {
      // A connection that is lost has undone everything, and its own error is the one to tell.
      await this.#db.run('ROLLBACK TO SAVEPOINT rows').catch(() => {});
      if (!isRefusedValue(error) && !isRefusedRow(error)) throw error;
      const [only] = rows;
      if (only && rows.length === 1) throw badLine(only.line, "the ledger can't store this row");
    }
    let counts = noRows;
    for (const row of rows) counts = sumOf(counts, await this.merge(table, [row]));
    return counts;
  }

  async #merge(table: DumpTable, rows: readonly Row[]): Promise<Counts> {
    if (table.name === 'purchases') await bringTogether(this.#db, rows, this.#moves);
    for (const row of rows) this.#touch(table, row);
    let counts = noRows;
    // An export lacks the columns that a later migration has added.
    for (const alike of groupBy(rows, (row) => Object.keys(row).join()).values())
      counts = sumOf(counts, await this.#mergeAlike(table, alike));
    return counts;
  }

  #touch({ name, fileColumn }: DumpTable, row: Row): void {
    if (name === 'purchases') touch(this.touchedPurchases, row.profile, row.id);
    if (fileColumn) touch(this.touchedFiles, row.profile, row[fileColumn]);
  }

  /** Rows with the same columns. */
  async #mergeAlike(table: DumpTable, rows: readonly Row[]): Promise<Counts> {
    const columns = Object.keys(rows[0] ?? {});
    const values = rows.flatMap((row) =>
      columns.map((column) => (isDerived(table.name, column) ? 0 : (row[column] ?? null))),
    );
    const insert = insertInto(table, columns, rows.length);
    const added = await this.#db.run(`${insert} ON CONFLICT DO NOTHING`, ...values);
    const updated = new Set<string>();
    const given = (table.changing ?? []).filter((group) =>
      group.columns.some((each) => columns.includes(each)),
    );
    for (const group of added === rows.length ? [] : given)
      for (const key of await this.#db.all(`${insert} ${this.#taking(table, group, columns)}`, ...values))
        updated.add(JSON.stringify(key));
    return { new: added, updated: updated.size, known: rows.length - added - updated.size };
  }

  /** Takes these columns from the row of the export (`excluded`) where it ranks higher than that of the ledger. */
  #taking(
    { name, key }: DumpTable,
    { columns, by = () => [], along = [] }: ChangingColumns,
    given: readonly string[],
  ): string {
    const own = columns.filter((column) => given.includes(column));
    const rankOf = (row: string): string =>
      [...by(row), ...own.map((column) => this.#comparable(name, row, column))].join(', ');
    const set = [...own, ...along].filter((column) => given.includes(column));
    return `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${set.map((column) => `"${column}" = excluded."${column}"`).join(', ')}
      WHERE (${rankOf('excluded')}) > (${rankOf(name)}) RETURNING ${key.join(', ')}`;
  }

  /** SQL that makes a value comparable: NULL sorts below everything. */
  #comparable(table: string, row: string, column: string): string {
    if (!['TEXT', 'BLOB'].includes(this.#types.get(table)?.get(column) ?? ''))
      return `coalesce(${row}."${column}", ${LOWEST})`;
    return `(CASE WHEN ${row}."${column}" IS NULL THEN '' ELSE '+' || ${row}."${column}" END) COLLATE BINARY`;
  }

  /** Which events refer to each other, when all are there. */
  async linkDuplicates(rows: readonly StagedRow[]): Promise<void> {
    for (const { fields } of rows)
      if (typeof fields.duplicate === 'string')
        await this.#db.run(
          `UPDATE events SET duplicate = (SELECT id FROM events WHERE arrival = ?)
           WHERE arrival = ? AND duplicate IS NULL`,
          ...[fields.duplicate, fields.arrival ?? ''],
        );
  }
}

/** Sorts below every amount. */
const LOWEST = -(2 ** 53);

/** Who holds a name is derived from all that have it. */
const isDerived = (table: string, column: string): boolean => table === 'item_names' && column === 'holds';

/** Of an event, whose number is another one here, an export has the arrival. Others of its kind may come after it. */
function insertInto({ name, eventColumn }: DumpTable, columns: readonly string[], rows: number): string {
  const placeOf = (column: string): string => {
    if (column !== eventColumn) return '?';
    const event = 'SELECT id FROM events WHERE arrival = CAST(? AS TEXT)';
    return name === 'events' ? `(${event} AND 1 = 0)` : `(${event})`;
  };
  const row = `(${columns.map(placeOf).join(', ')})`;
  return `INSERT INTO ${name} (${columns.map((column) => `"${column}"`).join(', ')}) VALUES ${Array(rows).fill(row).join(', ')}`;
}

function touch(touched: Map<string, Set<string>>, profile: Value | undefined, id: Value | undefined): void {
  if (!id) return;
  const ids = touched.get(String(profile)) ?? new Set();
  touched.set(String(profile), ids.add(String(id)));
}
