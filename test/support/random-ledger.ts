/** Small random ledgers, for what must hold for every one. */
import fc from 'fast-check';
import { derivePurchases } from '../../src/ledger/dump/derive.ts';
import { exportedLines } from '../../src/ledger/dump/export.ts';
import type { TableCounts } from '../../src/ledger/dump/import.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { migrations } from '../../src/ledger/stores/schema.ts';
import { SqliteStore } from '../../src/ledger/stores/sqlite.ts';
import { type Database, openDatabase, type Value } from '../../src/lib/sqlite.ts';

/** All lines of an export. */
export async function linesOf(ledger: Ledger): Promise<string> {
  let text = '';
  for await (const some of exportedLines(ledger, true)) text += some;
  return text;
}

export const sourceOf = async function* (text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  // In parts that end anywhere.
  for (let at = 0; at < bytes.length; at += 997) yield bytes.subarray(at, at + 997);
};

function insert(db: Database, table: string, row: Record<string, Value>): void {
  const columns = Object.keys(row);
  db.run(
    `INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...Object.values(row),
  );
}

const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((each) => !each.includes('\u0000'));
const profile = fc.constantFrom('default', 'acme');
const longId = fc.constantFrom('1', '9007199254740993', '18446744073709551617', 'x y', 'ü\u2028');
const time = fc.integer({ min: 0, max: 5 }).map((n) => `2026-11-0${n + 1}T00:00:00.000Z`);
const number = fc.integer({ min: 1, max: 400 });

const purchaseRow = fc.record({
  number,
  id: fc.uuid(),
  profile,
  kind: fc.constantFrom('order', 'upgrade', 'refund'),
  via: text,
  outcome: fc.constantFrom('sending', 'placed', 'refused', 'uncertain'),
  named: fc.constantFrom('', '', '18446744073709551617', 'x y'),
  status: fc.constant('sending'),
  test: fc.constantFrom(0, 1),
  started_at: time,
  ended_at: fc.option(time),
  detail: text,
  user: text,
  host: text,
  pid: number,
  skus: text,
  notes: text,
});
const event = fc.record({
  id: number,
  profile,
  source: fc.constantFrom('received', 'test', 'found'),
  received_at: time,
  remote: text,
  content_type: text,
  body: fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    text.map((each) => Buffer.from(each)),
  ),
  event: text,
  version: text,
  audiofile: longId,
  order_id: longId,
  duplicate: fc.option(number),
  arrival: fc.uuid(),
});
const file = fc.record({
  seq: number,
  profile,
  id: longId,
  order_id: longId,
  link: text,
  test: fc.constantFrom(0, 1),
  state: text,
  ended: fc.constantFrom('', 'delivered', 'unfinished'),
  title: text,
  ordered_at: time,
  checked_at: fc.option(time),
  answer: fc.option(text),
  completed: fc.constantFrom(0, 1),
});

/** What a small ledger may hold. */
export const content = fc.record({
  purchases: fc.array(purchaseRow),
  runs: fc.array(
    fc.record({
      id: number,
      profile,
      host: text,
      pid: number,
      started_at: time,
      seen_at: time,
      ended_at: fc.option(time),
    }),
  ),
  events: fc.array(event),
  files: fc.array(file),
  downloads: fc.array(
    fc.record({
      profile,
      file: longId,
      ext: text,
      folder: text,
      path: text,
      path_key: text,
      bytes: number,
      at: time,
    }),
  ),
  kept_invoices: fc.array(
    fc.record({
      ...{ profile, id: longId, own_id: longId, state: text, fetched_at: time },
      ...{ final: fc.constantFrom(0, 1), answer: text },
    }),
  ),
  uploads: fc.array(fc.record({ profile, content: text, url: text, at: time })),
  ignored_audio: fc.array(
    fc.record({ profile, name: text, given: text, removed: fc.nat({ max: 1 }), set_at: time, set_by: text }),
  ),
  budgets: fc.array(fc.record({ profile, budget: fc.option(text), set_at: fc.option(time), set_by: text })),
  names: fc.array(fc.tuple(text, fc.nat(), fc.nat(3), text)),
  settlements: fc.array(
    fc.tuple(fc.uuid(), fc.nat(), fc.constantFrom('placed', 'not placed', 'reopened'), time),
  ),
  actions: fc.array(fc.tuple(fc.nat(), fc.nat(), text, fc.constantFrom('pending', 'done', 'failed'), time)),
  event_files: fc.array(fc.tuple(longId, fc.nat())),
});
export type Content = typeof content extends fc.Arbitrary<infer T> ? T : never;

const plainTables = [
  ...([
    'purchases',
    'runs',
    'events',
    'files',
    'downloads',
    'kept_invoices',
    'uploads',
    'budgets',
    'ignored_audio',
  ] as const),
];

/** Fills a ledger; references lead to rows that are there, and what follows from them is derived. */
export async function fill(path: string, given: Content): Promise<void> {
  const db = await openDatabase(path, migrations);
  const purchases = addRows(db, given);
  const store = new SqliteStore(db);
  for (const profile of ['default', 'acme']) {
    const ids = purchases.filter((each) => each.profile === profile).map(({ id }) => id);
    await derivePurchases(store, profile, ids);
  }
  await store.close();
}

interface PurchaseRow {
  readonly id: string;
  readonly profile: string;
  readonly started_at: string;
}

const pick = <T>(from: readonly T[], n: number): T => from[n % from.length] as T;

function addRows(db: Database, given: Content): readonly PurchaseRow[] {
  for (const table of plainTables)
    for (const row of given[table]) insert(db, table, row as Record<string, Value>);
  const ids = (table: string): number[] =>
    db.all<{ id: number }>(`SELECT id FROM ${table} ORDER BY id`).map(({ id }) => id);
  const [runs, events] = [ids('runs'), ids('events')];
  db.run('UPDATE events SET duplicate = NULL WHERE duplicate NOT IN (SELECT id FROM events)');
  if (events.length)
    for (const [audiofile, n] of given.event_files)
      insert(db, 'event_files', { audiofile, event: pick(events, n) });
  if (events.length && runs.length)
    for (const [n, m, target, status, at] of given.actions)
      insert(db, 'actions', {
        ...{ event: pick(events, n), kind: 'exec', target, run: pick(runs, m) },
        ...{ status, updated_at: at },
      });
  const purchases = db.all<PurchaseRow>('SELECT id, profile, started_at FROM purchases ORDER BY number');
  if (purchases.length) addToPurchases(db, purchases, given);
  return purchases;
}

function addToPurchases(
  db: Database,
  purchases: readonly PurchaseRow[],
  { names, settlements }: Content,
): void {
  for (const [name, n, position, title] of names) {
    const { id, profile: of, started_at: bought_at } = pick(purchases, n);
    const [purchase, url_key] = [id, `url ${name}`];
    insert(db, 'purchase_items', { purchase, position, profile: of, url: name, url_key, title, bought_at });
    insert(db, 'labels', { profile: of, kind: 'tag', label: title, purchase, position, n: 0 });
    insert(db, 'item_names', { profile: of, name: url_key, purchase, position });
  }
  for (const [id, n, verdict, said_at] of settlements)
    insert(db, 'settlements', {
      ...{ id, purchase: pick(purchases, n).id, verdict, order_id: verdict === 'placed' ? '7' : '' },
      ...{ said_at, said_by: 'me' },
    });
}

/** How many rows are new, and how many were updated. */
export const totals = (counts: readonly TableCounts[]): number[] => [
  counts.reduce((sum, each) => sum + each.new, 0),
  counts.reduce((sum, each) => sum + each.updated, 0),
];
