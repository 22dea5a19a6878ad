/** What the ledger says of itself. */
import type { LedgerStatus } from '../ledger/status.ts';
import { toJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';

export interface ShownStatus extends LedgerStatus {
  /** A path, or a URL without its password. */
  readonly where: string;
  /** Where the setting came from. */
  readonly source: string;
  readonly account: string;
  /** Outcomes of orders on this machine that the shared ledger could not take. */
  readonly outcomes: number;
  /** Events on their way from the journals of this machine. */
  readonly events: number;
}

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
    moved: moved ? { to: moved.to, account: moved.account, at: moved.at } : null,
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
  json: toJson({ done: [...done] }),
  columns: [{ name: 'migration' }],
  rows: done.map((name) => [name]),
  quiet: done,
});

interface ChangedAccount {
  readonly account: string;
  readonly baseUrl: string;
  readonly former: string | undefined;
}

export const accountView = ({ account, baseUrl, former }: ChangedAccount): View => ({
  json: toJson({ account, base_url: baseUrl, former: former ?? null }),
  columns: [{ name: 'account', kind: 'id' }, { name: 'base_url', kind: 'link' }, { name: 'former' }],
  rows: [[account, baseUrl, former ?? '']],
  quiet: [baseUrl],
});
