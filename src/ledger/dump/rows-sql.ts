/** SQL for many rows at once: over a network each statement costs a round trip. */
import type { Store, Value } from '../store.ts';
import { type Conflict, conflicts } from './merge-rules.ts';

export type Fields = Readonly<Record<string, Value>>;

/** Adds rows; gives the number of those that were added. Known ones are left as they are where that is asked for. */
export async function insertRows(
  db: Store,
  table: string,
  rows: readonly Fields[],
  ifKnown: 'fail' | 'leave' = 'fail',
): Promise<number> {
  let added = 0;
  for (const alike of withSameColumns(rows)) {
    const onConflict = ifKnown === 'leave' ? ` ON CONFLICT (${quoted(conflictOf(table).on)}) DO NOTHING` : '';
    added += await db.run(insertInto(table, alike) + onConflict, ...valuesOf(alike));
  }
  return added;
}

/** Updates rows that are known where the export has the later word; gives the number of those. */
export async function updateRows(db: Store, table: string, rows: readonly Fields[]): Promise<number> {
  const { on, isLater, set = {} } = conflictOf(table);
  if (isLater === undefined) return 0;
  let updated = 0;
  for (const alike of withSameColumns(rows)) {
    const sets = Object.keys(alike[0] ?? {})
      .filter((column) => !on.includes(column))
      .map((column) => `"${column}" = ${set[column] ?? `excluded."${column}"`}`);
    updated += await db.run(
      `${insertInto(table, alike)} ON CONFLICT (${quoted(on)}) DO UPDATE SET ${sets.join(', ')} WHERE ${isLater}`,
      ...valuesOf(alike),
    );
  }
  return updated;
}

/** `(?, ?), (?, ?)` */
export const placesFor = (rows: ReadonlyArray<readonly Value[]>): string =>
  rows.map((row) => `(${row.map(() => '?').join(', ')})`).join(', ');

const conflictOf = (table: string): Conflict => conflicts[table] as Conflict;

const quoted = (columns: readonly string[]): string => columns.map((column) => `"${column}"`).join(', ');

const insertInto = (table: string, rows: readonly Fields[]): string =>
  `INSERT INTO ${table} (${quoted(Object.keys(rows[0] ?? {}))}) VALUES ${placesFor(rows.map((row) => Object.values(row)))}`;

const valuesOf = (rows: readonly Fields[]): Value[] => rows.flatMap((row) => Object.values(row));

/** An export lacks the columns that a later migration has added. */
function withSameColumns(rows: readonly Fields[]): Fields[][] {
  const groups = new Map<string, Fields[]>();
  for (const row of rows) {
    const columns = Object.keys(row).join();
    const group = groups.get(columns);
    if (group) group.push(row);
    else groups.set(columns, [row]);
  }
  return [...groups.values()];
}
