/** What was done with the ledger itself. */
import type { TableCounts } from '../ledger/dump/import.ts';
import type { PruneCounts } from '../ledger/prune.ts';
import { toJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';

/** What an import has brought, by table. */
export const importedView = (tables: readonly TableCounts[]): View => ({
  json: toJson(tables.map((each) => ({ ...each }))),
  columns: [
    { name: 'table' },
    { name: 'new', kind: 'amount' },
    { name: 'updated', kind: 'amount' },
    { name: 'known', kind: 'amount' },
    { name: 'orphaned', kind: 'amount' },
  ],
  rows: tables.map((each) => [
    each.table,
    ...[each.new, each.updated, each.known, each.orphaned].map(String),
  ]),
  quiet: [String(tables.reduce((sum, each) => sum + each.new, 0))],
});

export const prunedView = ({ events, actions, runs, kept }: PruneCounts): View => ({
  json: toJson({ events, actions, runs, kept }),
  columns: [
    { name: 'events', kind: 'amount' },
    { name: 'actions', kind: 'amount' },
    { name: 'runs', kind: 'amount' },
    { name: 'kept', kind: 'amount' },
  ],
  rows: [[events, actions, runs, kept].map(String)],
  quiet: [String(events)],
});
