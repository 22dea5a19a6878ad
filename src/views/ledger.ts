/** What was done with the ledger itself. */
import type { TableCounts } from '../ledger/dump/import.ts';
import type { LedgerStatus } from '../ledger/inspect.ts';
import type { PruneCounts } from '../ledger/prune.ts';
import { type Json, JsonNumber, toJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import { countField, documentOf, RecordType, wordField } from './record.ts';
import * as is from './schema.ts';

export const importedRecord = new RecordType<TableCounts>([
  wordField('table', 'table of the ledger', 'table'),
  countField('new', 'rows added', (counts) => counts.new),
  countField('updated', 'rows updated with newer data', 'updated'),
  countField('known', 'rows that already existed', 'known'),
]);

/** What an import has brought, by table. */
export const importedView = (tables: readonly TableCounts[]): View => ({
  ...importedRecord.view(tables),
  quiet: [String(tables.reduce((sum, each) => sum + each.new, 0))],
});

export const prunedRecord = new RecordType<PruneCounts>([
  countField('events', 'events removed', 'events'),
  countField('actions', 'actions of those events', 'actions'),
  countField('runs', 'listener sessions without any events left', 'runs'),
  countField('kept', 'old events kept because their actions are unfinished', 'kept'),
]);

export interface ShownStatus extends LedgerStatus {
  /** A path, or a URL without its password. */
  readonly where: string;
  /** Where the setting came from. */
  readonly source: string;
  readonly account: string;
  /** Outcomes of orders on this machine that the shared ledger could not take. */
  readonly outcomes: number;
  /** Events in the spool of this machine, on their way into the ledger. */
  readonly events: number;
}

const baseUrlOf = ({ accounts, account }: ShownStatus): string | undefined =>
  accounts.find(({ name }) => name === account)?.baseUrl;

/** What the ledger says of itself. */
export const { schema: statusSchema, json: statusJson } = documentOf<ShownStatus>({
  where: [is.text, 'where', 'path, or URL without its password'],
  source: [is.text, 'source', 'where the setting came from'],
  store: [is.oneOf('sqlite', 'postgres'), 'store'],
  server: [is.maybeText, ({ server }) => server || null, 'version of the database server'],
  made: [is.boolean, 'made', 'whether its tables exist'],
  version: [is.maybeText, ({ migrations }) => migrations.at(-1), 'last migration applied'],
  missing: [is.arrayOf(is.text), 'missing', 'migrations not applied yet'],
  up_to_date: [is.boolean, ({ made, missing }) => made && missing.length === 0],
  client: [is.integer, 'client', 'number of migrations that this version of steno knows'],
  min_client: [
    is.integer,
    'minClient',
    'number of migrations that the oldest version allowed to use it knows',
  ],
  may_work: [
    is.boolean,
    ({ minClient, client }) => minClient <= client,
    'whether this version of steno may use it',
  ],
  bytes: [is.integer, 'bytes'],
  rows: [{ type: 'object', additionalProperties: is.integer }, 'rows', 'number of rows, by table'],
  account: [is.text, 'account'],
  base_url: [is.maybeText, baseUrlOf],
  same_base_url: [
    is.arrayOf(is.text),
    (status) =>
      status.accounts
        .filter(({ name, baseUrl }) => baseUrl === baseUrlOf(status) && name !== status.account)
        .map(({ name }) => name),
    'other accounts of the same service',
  ],
  unclear: [is.integer, 'unclear', 'purchases of unknown outcome'],
  being_sent: [is.integer, 'beingSent'],
  outcomes_waiting: [is.integer, 'outcomes', 'outcomes on this machine that are not in the ledger yet'],
  events_waiting: [is.integer, 'events', 'events on this machine that are not in the ledger yet'],
  moved: [
    is.nullable(is.object({ to: is.text, account: is.text, at: is.text, finished: is.boolean })),
    ({ moved }) =>
      moved && { to: moved.to, account: moved.account, at: moved.at, finished: !moved.unfinished },
    'where it was copied to; null if it was not',
  ],
  backups: [
    is.arrayOf(is.object({ path: is.text, bytes: is.integer })),
    ({ backups }) => backups.map(({ path, bytes }) => ({ path, bytes })),
  ],
});

export function statusView(status: ShownStatus): View {
  const json = statusJson(status);
  return {
    json,
    columns: [{ name: 'name', kind: 'id' }, { name: 'value' }],
    rows: [...json].flatMap(([name, value]) => rowsOf(name, value)),
    quiet: [status.where],
    asPairs: true,
  };
}

/** One line for each plain value. */
function rowsOf(name: string, value: Json): string[][] {
  if (Array.isArray(value)) return value.length ? value.flatMap((each) => rowsOf(name, each)) : [[name, '']];
  if (value instanceof Map) return [...value].flatMap(([inner, each]) => rowsOf(`${name}.${inner}`, each));
  if (typeof value === 'boolean') return [[name, value ? 'yes' : 'no']];
  return [[name, value instanceof JsonNumber ? value.text : (value ?? '')]];
}

export const migratedView = (done: readonly string[]): View => ({
  json: toJson({ migrations: [...done] }),
  columns: [{ name: 'migrations' }],
  rows: done.map((name) => [name]),
  quiet: done,
});
