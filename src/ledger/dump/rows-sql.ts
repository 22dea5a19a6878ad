/** SQL for many rows at once: over a network each statement costs a round trip. */
import type { Value } from '../../lib/sqlite-driver.ts';
import { mergeClauses, mergeRules } from '../merge-rules.ts';
import type { Store } from '../stores/store.ts';

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
    const onConflict = ifKnown === 'leave' ? ` ON CONFLICT (${quoted(keyOf(table))}) DO NOTHING` : '';
    added += await db.run(insertInto(table, alike) + onConflict, ...valuesOf(alike));
  }
  return added;
}

/** Merges rows with those that the ledger has; gives the number of rows that changed. */
export async function mergeRows(db: Store, table: string, rows: readonly Fields[]): Promise<number> {
  const key = quoted(keyOf(table));
  const changed = new Set<string>();
  for (const alike of withSameColumns(rows)) {
    for (const clause of mergeClauses(table, Object.keys(alike[0] ?? {}))) {
      const sql = `${insertInto(table, alike)} ON CONFLICT (${key}) DO UPDATE ${clause} RETURNING ${key}`;
      for (const row of await db.all<Fields>(sql, ...valuesOf(alike))) changed.add(JSON.stringify(row));
    }
  }
  return changed.size;
}

/** `(?, ?), (?, ?)` */
export const placesFor = (rows: ReadonlyArray<readonly Value[]>): string =>
  rows.map((row) => `(${row.map(() => '?').join(', ')})`).join(', ');

const keyOf = (table: string): readonly string[] => mergeRules[table]?.on ?? [];

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
