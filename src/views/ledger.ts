/** What was done with the ledger itself. */
import type { TableCounts } from '../ledger/dump/import.ts';
import type { PruneCounts } from '../ledger/prune.ts';
import type { View } from '../lib/view.ts';
import { countField, RecordType, textField } from './record.ts';
import { text } from './schema.ts';

export const importedRecord = new RecordType<TableCounts>([
  textField('table', 'of the ledger', ({ table }) => table, { schema: text }),
  countField('new', 'rows that were not there', (counts) => counts.new),
  countField('updated', 'rows that got newer', ({ updated }) => updated),
  countField('known', 'rows that were there', ({ known }) => known),
  countField('orphaned', 'rows that were left out: what they belong to was lost', ({ orphaned }) => orphaned),
]);

/** What an import has brought, by table. */
export const importedView = (tables: readonly TableCounts[]): View => ({
  ...importedRecord.view(tables, ({ table }) => table),
  quiet: [String(tables.reduce((sum, each) => sum + each.new, 0))],
});

export const prunedRecord = new RecordType<PruneCounts>([
  countField('events', 'that were removed', ({ events }) => events),
  countField('actions', 'of those events', ({ actions }) => actions),
  countField('runs', 'of listeners that have none of their events left', ({ runs }) => runs),
  countField('kept', 'old events with something still to be done', ({ kept }) => kept),
]);

export const prunedView = (counts: PruneCounts): View => ({
  ...prunedRecord.view([counts], ({ events }) => String(events)),
  json: prunedRecord.json(counts),
});

interface ChangedAccount {
  readonly account: string;
  readonly baseUrl: string | undefined;
  readonly former: string | undefined;
}

export const accountRecord = new RecordType<ChangedAccount>([
  textField('account', 'its name', ({ account }) => account, { kind: 'id', schema: text }),
  textField('base_url', 'of the service it belongs to now', ({ baseUrl }) => baseUrl, { kind: 'link' }),
  textField('former', 'the base URL before', ({ former }) => former),
]);

export const accountView = (changed: ChangedAccount): View => ({
  ...accountRecord.view([changed], ({ account, baseUrl }) => baseUrl ?? account),
  json: accountRecord.json(changed),
});
