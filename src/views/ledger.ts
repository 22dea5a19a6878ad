/** What was done with the ledger itself. */
import type { TableCounts } from '../ledger/dump/import.ts';
import type { LedgerStatus } from '../ledger/inspect.ts';
import type { PruneCounts } from '../ledger/prune.ts';
import { type Json, toJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import * as a from './fields.ts';
import { cellText, RecordType } from './record.ts';
import * as is from './schema.ts';

export const importedRecord = new RecordType<TableCounts>([
  a.word('table', 'table of the ledger', 'table'),
  a.count('new', 'rows added', (counts) => counts.new),
  a.count('updated', 'rows updated with newer data', 'updated'),
  a.count('known', 'rows that already existed', 'known'),
]);

/** What an import has brought, by table. */
export const importedView = (tables: readonly TableCounts[]): View =>
  importedRecord.view(tables, { quiet: [String(tables.reduce((sum, each) => sum + each.new, 0))] });

export const prunedRecord = new RecordType<PruneCounts>([
  a.count('events', 'events removed', 'events'),
  a.count('actions', 'actions of those events', 'actions'),
  a.count('runs', 'listener sessions without any events left', 'runs'),
  a.count('kept', 'old events kept because their actions are unfinished', 'kept'),
]);

export interface ShownStatus extends LedgerStatus {
  /** A path, or a URL without its password. */
  readonly where: string;
  /** Where the setting came from. */
  readonly source: string;
  readonly account: string;
  /** Outcomes of orders on this machine that the shared ledger could not take. */
  readonly outcomes: number;
  /** Events on this machine, on their way into the ledger. */
  readonly events: number;
}

const baseUrlOf = ({ accounts, account }: ShownStatus): string | undefined =>
  accounts.find(({ name }) => name === account)?.baseUrl;

const sameBaseUrl = (status: ShownStatus): string[] =>
  status.accounts.flatMap(({ name, baseUrl }) =>
    baseUrl === baseUrlOf(status) && name !== status.account ? [name] : [],
  );

const moved = is.object({ to: is.text, account: is.text, at: is.text, finished: is.boolean });

/** What the ledger says of itself. */
export const statusRecord = new RecordType<ShownStatus>([
  a.word('where', 'path, or URL without its password', 'where'),
  a.word('source', 'where the setting came from', 'source'),
  a.word('store', 'kind of database', 'store', { schema: is.oneOf('sqlite', 'postgres') }),
  a.text('server', 'version of the database server', 'server'),
  a.flag('made', 'whether its tables exist', 'made'),
  a.text('version', 'last migration applied', ({ migrations }) => migrations.at(-1)),
  a.list('missing', 'migrations not applied yet', 'missing'),
  a.flag('up_to_date', 'whether no migration is missing', ({ made, missing }) => made && !missing.length),
  a.count('client', 'number of migrations that this version of steno knows', 'client'),
  a.count('min_client', 'number of migrations that the oldest version allowed to use it knows', 'minClient'),
  a.flag(
    'may_work',
    'whether this version of steno may use it',
    ({ minClient, client }) => minClient <= client,
  ),
  a.count('bytes', 'size in bytes', 'bytes'),
  a.plain(
    'rows',
    'number of rows, by table',
    { type: 'object', additionalProperties: is.integer },
    ({ rows }) => ({ ...rows }),
  ),
  a.word('account', 'name of the account', 'account'),
  a.text('base_url', 'address of the service', baseUrlOf),
  a.list('same_base_url', 'other accounts of the same service', sameBaseUrl),
  a.count('unclear', 'purchases of unknown outcome', 'unclear'),
  a.count('being_sent', 'purchases that are being sent', 'beingSent'),
  a.count('outcomes_waiting', 'outcomes on this machine that are not in the ledger yet', 'outcomes'),
  a.count('events_waiting', 'events on this machine that are not in the ledger yet', 'events'),
  a.plain('moved', 'where it was copied to; null if it was not', is.nullable(moved), (status) => {
    if (!status.moved) return null;
    const { to, account, at, unfinished } = status.moved;
    return { to, account, at, finished: !unfinished };
  }),
  a.plain(
    'backups',
    'daily backups',
    is.arrayOf(is.object({ path: is.text, bytes: is.integer })),
    ({ backups }) => backups.map(({ path, bytes }) => ({ path, bytes })),
  ),
]);

export const factRecord = new RecordType<readonly [string, string]>([
  a.column('name', 'name of the fact', ([name]) => name, { kind: 'id' }),
  a.column('value', 'value as text', ([, value]) => value),
]);

export function statusView(status: ShownStatus): View {
  const json = statusRecord.json(status);
  const facts = [...json].flatMap(([name, value]) => factsOf(name, value));
  return factRecord.view(facts, { json: () => json, quiet: [status.where], asPairs: true });
}

/** One line for each plain value. */
function factsOf(name: string, value: Json): Array<readonly [string, string]> {
  if (Array.isArray(value) && value.length) return value.flatMap((each) => factsOf(name, each));
  if (value instanceof Map) return [...value].flatMap(([inner, each]) => factsOf(`${name}.${inner}`, each));
  if (typeof value === 'boolean') return [[name, value ? 'yes' : 'no']];
  return [[name, cellText(value)]];
}

export const migrationRecord = new RecordType<string>([
  a.column('migrations', 'migration applied', (name) => name),
]);

export const migratedView = (done: readonly string[]): View =>
  migrationRecord.view(done, { json: () => toJson({ migrations: [...done] }) });
