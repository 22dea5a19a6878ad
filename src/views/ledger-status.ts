/** What the ledger says of itself. */
import type { LedgerStatus } from '../ledger/inspect.ts';
import { toJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import {
  arrayOf,
  boolean,
  described,
  integer,
  maybeText,
  nullable,
  object,
  oneOf,
  type Schema,
  text,
} from './schema.ts';

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

export const statusSchema: Schema = object({
  where: described('a path, or a URL without its password', text),
  source: described('where the setting came from', text),
  store: oneOf('sqlite', 'postgres'),
  server: described('the version of the server', maybeText),
  made: described('whether it has its tables', boolean),
  version: described('its last migration', maybeText),
  missing: described('migrations that it lacks', arrayOf(text)),
  up_to_date: boolean,
  client: described('how many migrations this steno knows', integer),
  min_client: described('how many the oldest steno that may use it knows', integer),
  may_work: described('whether this steno may use it', boolean),
  bytes: integer,
  rows: described('by table', { type: 'object', additionalProperties: integer }),
  account: text,
  base_url: maybeText,
  same_base_url: described('other accounts of the same service', arrayOf(text)),
  unclear: described('orders without a known end', integer),
  being_sent: integer,
  outcomes_waiting: described('outcomes that the ledger has not taken yet', integer),
  events_waiting: described('events on their way into the ledger', integer),
  moved: described(
    'where it was copied to, if it was',
    nullable(object({ to: text, account: text, at: text, finished: boolean })),
  ),
  backups: arrayOf(object({ path: text, bytes: integer })),
});

export function statusView(status: ShownStatus): View {
  const { accounts, account, moved, backups, rows, missing, minClient, client } = status;
  const baseUrl = accounts.find(({ name }) => name === account)?.baseUrl ?? null;
  const alike = accounts.filter((each) => each.baseUrl === baseUrl && each.name !== account);
  const facts = {
    where: status.where,
    source: status.source,
    store: status.store,
    server: status.server || null,
    made: status.made,
    version: status.migrations.at(-1) ?? null,
    missing,
    up_to_date: status.made && missing.length === 0,
    client,
    min_client: minClient,
    may_work: minClient <= client,
    bytes: status.bytes,
    rows,
    account,
    base_url: baseUrl,
    same_base_url: alike.map(({ name }) => name),
    unclear: status.unclear,
    being_sent: status.beingSent,
    outcomes_waiting: status.outcomes,
    events_waiting: status.events,
    moved: moved ? { to: moved.to, account: moved.account, at: moved.at, finished: !moved.unfinished } : null,
    backups: backups.map(({ path, bytes }) => ({ path, bytes })),
  };
  return {
    json: toJson(facts),
    columns: [{ name: 'name', kind: 'id' }, { name: 'value' }],
    rows: Object.entries(facts).flatMap(([name, value]) => rowsOf(name, value)),
    quiet: [status.where],
    asPairs: true,
  };
}

/** One line for each plain value. */
function rowsOf(name: string, value: unknown): string[][] {
  if (Array.isArray(value)) return value.length ? value.flatMap((each) => rowsOf(name, each)) : [[name, '']];
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([inner, each]) => rowsOf(`${name}.${inner}`, each));
  return [[name, textOf(value)]];
}

function textOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value === null ? '' : String(value);
}

export const migratedView = (done: readonly string[]): View => ({
  json: toJson({ migrations: [...done] }),
  columns: [{ name: 'migrations' }],
  rows: done.map((name) => [name]),
  quiet: done,
});
