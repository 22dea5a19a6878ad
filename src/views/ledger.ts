/** What was done with the ledger itself. */
import type { TableCounts } from '../ledger/dump/import.ts';
import type { PruneCounts } from '../ledger/prune.ts';
import type { LedgerStatus } from '../ledger/status.ts';
import { type Json, JsonNumber, toJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import {
  arrayOf,
  boolean,
  countField,
  described,
  documentOf,
  integer,
  maybeText,
  nullable,
  object,
  oneOf,
  RecordType,
  text,
  textField,
  wordField,
} from './record.ts';

export const importedRecord = new RecordType<TableCounts>([
  wordField('table', 'of the ledger', ({ table }) => table),
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

export const prunedView = (counts: PruneCounts): View => prunedRecord.page(counts, String(counts.events));

interface ChangedAccount {
  readonly account: string;
  readonly baseUrl: string | undefined;
  readonly former: string | undefined;
}

export const accountRecord = new RecordType<ChangedAccount>([
  wordField('account', 'its name', ({ account }) => account, { kind: 'id' }),
  textField('base_url', 'of the service it belongs to now', ({ baseUrl }) => baseUrl, { kind: 'link' }),
  textField('former', 'the base URL before', ({ former }) => former),
]);

export const accountView = (changed: ChangedAccount): View =>
  accountRecord.page(changed, changed.baseUrl ?? changed.account);

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
export const statusDocument = documentOf<ShownStatus>({
  where: [described('a path, or a URL without its password', text), ({ where }) => where],
  source: [described('where the setting came from', text), ({ source }) => source],
  store: [oneOf('sqlite', 'postgres'), ({ store }) => store],
  server: [described('the version of the server', maybeText), ({ server }) => server || null],
  made: [described('whether it has its tables', boolean), ({ made }) => made],
  version: [described('its last migration', maybeText), ({ migrations }) => migrations.at(-1)],
  missing: [described('migrations that it lacks', arrayOf(text)), ({ missing }) => missing],
  up_to_date: [boolean, ({ made, missing }) => made && missing.length === 0],
  client: [described('how many migrations this steno knows', integer), ({ client }) => client],
  min_client: [
    described('how many the oldest steno that may use it knows', integer),
    ({ minClient }) => minClient,
  ],
  may_work: [
    described('whether this steno may use it', boolean),
    ({ minClient, client }) => minClient <= client,
  ],
  bytes: [integer, ({ bytes }) => bytes],
  rows: [described('by table', { type: 'object', additionalProperties: integer }), ({ rows }) => rows],
  account: [text, ({ account }) => account],
  base_url: [maybeText, baseUrlOf],
  same_base_url: [
    described('other accounts of the same service', arrayOf(text)),
    (status) =>
      status.accounts
        .filter(({ name, baseUrl }) => baseUrl === baseUrlOf(status) && name !== status.account)
        .map(({ name }) => name),
  ],
  unclear: [described('orders without a known end', integer), ({ unclear }) => unclear],
  being_sent: [integer, ({ beingSent }) => beingSent],
  outcomes_waiting: [
    described('outcomes that the ledger has not taken yet', integer),
    ({ outcomes }) => outcomes,
  ],
  events_waiting: [described('events on their way into the ledger', integer), ({ events }) => events],
  moved: [
    described(
      'where it was copied to, if it was',
      nullable(object({ to: text, account: text, at: text, finished: boolean })),
    ),
    ({ moved }) =>
      moved && { to: moved.to, account: moved.account, at: moved.at, finished: !moved.unfinished },
  ],
  backups: [
    arrayOf(object({ path: text, bytes: integer })),
    ({ backups }) => backups.map(({ path, bytes }) => ({ path, bytes })),
  ],
});

export function statusView(status: ShownStatus): View {
  const json = statusDocument.json(status);
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
