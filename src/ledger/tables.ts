/** The tables of the ledger as an export writes them: what orders the rows, and which numbers lead to other rows. */
import type { ColumnInfo, NumberedTable } from './stores/store.ts';

export type { ColumnInfo, NumberedTable };

export interface DumpTable {
  readonly name: string;
  /** Unique; the order of the rows. */
  readonly key: readonly string[];
  /** The column of the row's own number. */
  readonly number?: 'id' | 'seq' | 'number';
  /** Columns that hold the number of a row of another table. */
  readonly refs?: Readonly<Record<string, NumberedTable>>;
  /** Each row belongs to a purchase, whose id is in its column `purchase`. */
  readonly ofPurchase?: true;
  /** SQL that selects the rows of one profile. */
  readonly ofProfile: string;
}

const ofProfile = 'profile = ?';
// Asked for each row of a page: a list of all purchases would be made anew for each page.
const ofPurchases =
  'EXISTS (SELECT 1 FROM purchases WHERE purchases.id = purchase AND purchases.profile = ?)';
const ofEvents = 'EXISTS (SELECT 1 FROM events WHERE events.id = actions.event AND profile = ?)';
const ofFiledEvents = 'EXISTS (SELECT 1 FROM events WHERE events.id = event_files.event AND profile = ?)';

/**
 * What a row refers to stands before it; only events refer to each other. Not among them: `duties`, `properties` and
 * `webhook_loans`, which are of this file and of the listeners of this machine, and sealed with its salt.
 */
export const dumpTables: readonly DumpTable[] = [
  { name: 'purchases', key: ['number'], number: 'number', ofProfile },
  { name: 'settlements', key: ['id'], ofPurchase: true, ofProfile: ofPurchases },
  { name: 'purchase_items', key: ['purchase', 'position'], ofPurchase: true, ofProfile },
  { name: 'claims', key: ['profile', 'name'], ofPurchase: true, ofProfile },
  {
    name: 'purchase_names',
    key: ['name', 'purchase', 'position'],
    ofPurchase: true,
    ofProfile: ofPurchases,
  },
  { name: 'runs', key: ['id'], number: 'id', ofProfile },
  { name: 'events', key: ['id'], number: 'id', refs: { twin: 'events' }, ofProfile },
  {
    name: 'event_files',
    key: ['audiofile', 'event'],
    refs: { event: 'events' },
    ofProfile: ofFiledEvents,
  },
  {
    name: 'actions',
    key: ['event', 'kind', 'target'],
    refs: { event: 'events', run: 'runs' },
    ofProfile: ofEvents,
  },
  { name: 'files', key: ['seq'], number: 'seq', refs: { found: 'events' }, ofProfile },
  { name: 'downloads', key: ['profile', 'file', 'ext', 'folder'], ofProfile },
  { name: 'kept_invoices', key: ['profile', 'id'], ofProfile },
  { name: 'invoice_lines', key: ['profile', 'invoice', 'position'], ofProfile },
  { name: 'uploads', key: ['profile', 'content'], ofProfile },
  { name: 'budgets', key: ['profile'], ofProfile },
  { name: 'ignored_audio', key: ['profile', 'name'], ofProfile },
];

/** At the end of a field's name: its value is bytes, not text. */
export const BASE64 = '_base64';

export const FORMAT = 1;

/** The first line of an export. */
export interface DumpHeader {
  readonly steno_ledger: number;
  /** Null: all profiles. */
  readonly profile: string | null;
  /** Rows may be missing, because the ledger was damaged. */
  readonly damaged?: true;
}
