/**
 * The tables as exports have them, and what stays where two rows of one key meet: in an import, in a copy, on either
 * store. Rows are added; of columns that change, those of the row that ranks higher are taken together. The order depends
 * on nothing but the two rows, so the result is the same whichever comes first, and however often. What follows from the
 * rows is derived anew.
 */
import { rankOf } from './purchase-table.ts';

/** Columns that change together: by `by`, and then by their own values, a row ranks higher. */
export interface ChangingColumns {
  readonly columns: readonly string[];
  /** SQL for what ranks a row. */
  readonly by?: (row: string) => readonly string[];
  /** Go along and do not rank: numbers that another ledger gives otherwise. */
  readonly along?: readonly string[];
}

export interface DumpTable {
  readonly name: string;
  /** What makes two rows the same. */
  readonly key: readonly string[];
  /** The column of the number that each ledger gives its own rows, in whose order they are: it stays behind. */
  readonly number?: 'id' | 'seq' | 'number';
  /** A column that belongs to the listeners of this ledger: it stays behind too. */
  readonly own?: 'listener';
  /** The column with the number of an event: an export has the event's arrival in its place. */
  readonly eventColumn?: 'duplicate' | 'event' | 'found';
  /** The column with a file whose cost depends on the row. */
  readonly fileColumn?: 'id' | 'file';
  /** SQL that selects the rows of one profile. */
  readonly ofProfile: string;
  /** In the order in which they are merged; all other columns never change, or are derived. */
  readonly changing?: readonly ChangingColumns[];
}

/** When something was last learned of a file. The stores name the greatest of several values differently. */
const learned = (row: string): string =>
  `(SELECT max(column1) FROM (VALUES (coalesce(${row}.checked_at, '')), (coalesce(${row}.changed_at, '')),
    (coalesce(${row}.heard_at, ''))) AS times)`;

const ofProfile = 'profile = ?';
// Asked for each row of a page: a list of all purchases would be made anew for each page.
const ofPurchases =
  'EXISTS (SELECT 1 FROM purchases WHERE purchases.id = purchase AND purchases.profile = ?)';
const ofFiledEvents = 'EXISTS (SELECT 1 FROM events WHERE events.id = event_files.event AND profile = ?)';

/**
 * What a row refers to stands before it; only events refer to each other. What belongs to this file and to its listeners
 * stays behind: actions, runs, `leader_tasks` and `properties`.
 */
export const dumpTables: readonly DumpTable[] = [
  {
    ...{ name: 'purchases', key: ['id'], number: 'number', ofProfile },
    changing: [
      // Of one answer, a hold that has ended is the later one.
      {
        columns: ['outcome', 'ended_at', 'hold', 'detail'],
        by: (row) => [
          rankOf(`${row}.outcome`),
          `coalesce(${row}.ended_at, '')`,
          `CASE WHEN ${row}.hold IS NULL THEN 1 ELSE 0 END`,
        ],
      },
      // A name that the service has given is never lost.
      { columns: ['named'] },
      { columns: ['tracked'] },
    ],
  },
  { name: 'settlements', key: ['id'], ofProfile: ofPurchases },
  {
    ...{ name: 'purchase_items', key: ['purchase', 'position'], fileColumn: 'file', ofProfile },
    changing: [
      { columns: ['file_at', 'known', 'file', 'named', 'audio', 'total_before', 'turn'] },
      { columns: ['estimate', 'currency'] },
    ],
  },
  { name: 'labels', key: ['purchase', 'position', 'kind', 'label'], ofProfile },
  { name: 'item_names', key: ['profile', 'name', 'purchase', 'position'], ofProfile },
  { name: 'events', key: ['arrival'], number: 'id', own: 'listener', eventColumn: 'duplicate', ofProfile },
  { name: 'event_files', key: ['audiofile', 'event'], eventColumn: 'event', ofProfile: ofFiledEvents },
  {
    ...{
      name: 'files',
      key: ['profile', 'id'],
      number: 'seq',
      eventColumn: 'found',
      fileColumn: 'id',
      ofProfile,
    },
    changing: [
      {
        columns: [
          ...['upgrades', 'changed_at', 'heard_at', 'upgraded_at', 'reworked', 'state', 'ended', 'title'],
          ...['duration', 'total', 'invoices', 'link', 'checked_at', 'answer', 'remark'],
          ...['hint', 'awaited', 'due_since', 'polled_at', 'completed'],
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
  {
    ...{ name: 'downloads', key: ['profile', 'file', 'ext', 'folder'], ofProfile },
    changing: [{ columns: ['at', 'path', 'path_key', 'bytes', 'sha256', 'draft', 'handed_over', 'tries'] }],
  },
  {
    ...{ name: 'kept_invoices', key: ['profile', 'id'], ofProfile },
    changing: [
      {
        columns: ['fetched_at', 'final', 'paid', 'own_id', 'state', 'answer'],
        // One that is to be read again was so marked after it was read.
        by: (row) => [`${row}.fetched_at`, `1 - ${row}.final`],
      },
    ],
  },
  {
    ...{ name: 'invoice_lines', key: ['profile', 'invoice', 'position'], fileColumn: 'file', ofProfile },
    changing: [{ columns: ['fetched_at', 'paid', 'file', 'sku', 'amount', 'currency'] }],
  },
  {
    ...{ name: 'uploads', key: ['profile', 'content'], ofProfile },
    changing: [{ columns: ['at', 'url'] }],
  },
  {
    ...{ name: 'budgets', key: ['profile'], ofProfile },
    changing: [{ columns: ['set_at', 'budget', 'set_by'] }],
  },
  {
    ...{ name: 'ignored_audio', key: ['profile', 'name'], ofProfile },
    changing: [{ columns: ['set_at', 'removed', 'given', 'set_by'] }],
  },
];
