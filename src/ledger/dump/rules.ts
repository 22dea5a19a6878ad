/**
 * What stays where two records of one account meet: in an import, in a copy, on either store. Knowledge is only added.
 * Each rule takes the greater of two values, by an order that depends on nothing but the two; so the result is the same
 * whichever record comes first, and however often. What follows from the rows is derived anew: see derive.ts.
 */

import { rankOf } from '../purchase-table.ts';
import type { Store, Value } from '../stores/store.ts';
import { groupBy } from '../table.ts';

/** Columns that belong together: all are taken from the row that ranks higher, by `by` and then by their own values. */
export interface Group {
  readonly columns: readonly string[];
  /** SQL for what ranks a row. */
  readonly by?: (row: string) => readonly string[];
  /** Columns that go along and do not rank: numbers that another ledger gives otherwise. */
  readonly along?: readonly string[];
}

export interface MergeRule {
  /** What makes two rows the same. */
  readonly on: readonly string[];
  /** Columns that stay as the ledger has them: numbers, and what is derived. */
  readonly own?: readonly string[];
  /** In the order in which they are merged. Of all other columns each is a group of its own. */
  readonly groups?: readonly Group[];
}

/** When something was last learned of a file. The stores name the greatest of several values differently. */
const learned = (row: string): string =>
  `(SELECT max(column1) FROM (VALUES (coalesce(${row}.checked_at, '')), (coalesce(${row}.changed_at, '')),
    (coalesce(${row}.heard_at, ''))) AS times)`;

/** A hold that has ended says more than one that has not, and that more than no answer. */
const rankOfHold = (row: string): string =>
  `CASE WHEN ${row}.hold IS NOT NULL THEN 1 WHEN ${row}.outcome = 'placed' OR ${row}.named <> '' THEN 2 ELSE 0 END`;

/** Rows without a rule are added where they are not there yet, and else stay. */
export const mergeRules: Readonly<Record<string, MergeRule>> = {
  purchases: {
    on: ['id'],
    own: ['number', 'profile', 'status', 'order_id'],
    groups: [
      { columns: ['hold'], by: (row) => [rankOfHold(row)] },
      { columns: ['outcome', 'ended_at', 'detail'], by: (row) => [rankOf(`${row}.outcome`)] },
    ],
  },
  settlements: { on: ['id'], groups: [{ columns: ['undone_at', 'undone_by'] }] },
  purchase_items: {
    on: ['purchase', 'position'],
    own: ['profile', 'counted_at', 'billed', 'unpaid', 'refunded'],
    groups: [
      { columns: ['file_at', 'known', 'file', 'named', 'audio', 'total_before'] },
      { columns: ['estimate', 'currency'] },
    ],
  },
  claims: { on: ['profile', 'name'], own: ['purchase'] },
  purchase_names: { on: ['name', 'purchase', 'position'] },
  event_files: { on: ['audiofile', 'event'] },
  files: {
    on: ['profile', 'id'],
    own: ['seq'],
    groups: [
      {
        columns: [
          ...['upgrades', 'changed_at', 'heard_at', 'upgraded_at', 'reworked', 'state', 'ended', 'title'],
          ...['duration', 'total', 'invoices', 'link', 'checked_at', 'answer', 'remark'],
          ...['hint', 'awaited', 'due_since', 'polled_at'],
        ],
        // A test never replaces a real file.
        by: (row) => [`1 - ${row}.test`, learned(row)],
        along: ['found'],
      },
      {
        columns: ['test', 'order_id', 'ordered_at'],
        by: (row) => [
          `1 - ${row}.test`,
          `CASE WHEN ${row}.order_id = '' THEN 0 ELSE 1 END`,
          `${row}.ordered_at`,
        ],
      },
    ],
  },
  downloads: {
    on: ['profile', 'file', 'ext', 'folder'],
    groups: [{ columns: ['at', 'path', 'path_key', 'bytes', 'draft', 'handed_over'] }],
  },
  kept_invoices: {
    on: ['profile', 'id'],
    groups: [
      {
        columns: ['fetched_at', 'final', 'own_id', 'state', 'answer'],
        // One that is to be read again was so marked after it was read.
        by: (row) => [`${row}.fetched_at`, `1 - ${row}.final`],
      },
    ],
  },
  invoice_lines: {
    on: ['profile', 'invoice', 'position'],
    groups: [{ columns: ['fetched_at', 'paid', 'file', 'sku', 'amount', 'currency'] }],
  },
  uploads: { on: ['profile', 'content'], groups: [{ columns: ['at', 'url'] }] },
  budgets: { on: ['profile'], groups: [{ columns: ['set_at', 'budget', 'set_by'] }] },
  ignored_audio: {
    on: ['profile', 'name'],
    groups: [{ columns: ['set_at', 'removed', 'given', 'set_by'] }],
  },
};

const numbers = new Set([
  ...['position', 'pid', 'test', 'tracked', 'placed', 'estimate', 'billed', 'unpaid', 'refunded', 'reworked'],
  ...['audio', 'known', 'awaited', 'completed', 'removed', 'final', 'amount', 'paid', 'bytes', 'tries'],
]);

/** No amount is as low. */
const LOWEST = -(2 ** 53);

/** SQL for a value that can be compared: nothing is less than anything. */
const comparable = (row: string, column: string): string =>
  numbers.has(column)
    ? `coalesce(${row}."${column}", ${LOWEST})`
    : `(CASE WHEN ${row}."${column}" IS NULL THEN '' ELSE '+' || ${row}."${column}" END) COLLATE BINARY`;

/** SQL: whether the row of the export (`excluded`) ranks higher than that of the ledger. */
function ranksHigher(table: string, { columns, by = () => [] }: Group): string {
  const keyOf = (row: string): string =>
    [...by(row), ...columns.map((column) => comparable(row, column))].join(', ');
  return `(${keyOf('excluded')}) > (${keyOf(table)})`;
}

/** What follows `INSERT … ON CONFLICT (…) DO UPDATE`, for rows with these columns: one text a statement. */
export function mergeClauses(table: string, given: readonly string[]): string[] {
  const { on, own = [], groups = [] } = mergeRules[table] ?? { on: [] };
  const together = groups.map((group) => {
    const set = [...group.columns, ...(group.along ?? [])].filter((column) => given.includes(column));
    const columns = group.columns.filter((column) => given.includes(column));
    return `SET ${set.map((column) => `"${column}" = excluded."${column}"`).join(', ')}
      WHERE ${ranksHigher(table, { ...group, columns })}`;
  });
  const grouped = new Set([
    ...on,
    ...own,
    ...groups.flatMap((group) => [...group.columns, ...(group.along ?? [])]),
  ]);
  const alone = given.filter((column) => !grouped.has(column));
  if (alone.length === 0) return together;
  const isHigher = (column: string): string => ranksHigher(table, { columns: [column] });
  const sets = alone.map(
    (column) =>
      `"${column}" = CASE WHEN ${isHigher(column)} THEN excluded."${column}" ELSE ${table}."${column}" END`,
  );
  return [...together, `SET ${sets.join(', ')} WHERE ${alone.map(isHigher).join(' OR ')}`];
}

// SQL for many rows at once: over a network each statement costs a round trip.

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
const withSameColumns = (rows: readonly Fields[]): Fields[][] => [
  ...groupBy(rows, (row) => Object.keys(row).join()).values(),
];
