/** Small random ledgers, for what must hold for every one. */
import fc from 'fast-check';
import type { TableCounts } from '../../src/ledger/dump/import.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Database, Value } from '../../src/lib/sqlite.ts';

/** All lines of an export. */
export async function linesOf(ledger: Ledger): Promise<string> {
  let text = '';
  for await (const some of ledger.exportLines(true)) text += some;
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

const attempt = fc.record({
  id: number,
  profile,
  status: fc.constantFrom('sending', 'placed', 'refused', 'uncertain'),
  test: fc.constantFrom(0, 1),
  started_at: time,
  ended_at: fc.option(time),
  order_id: fc.option(longId),
  detail: fc.option(text),
  token: fc.uuid(),
  host: text,
  pid: number,
  skus: text,
  cost: fc.option(fc.integer({ min: 0, max: 9_000_000_000 })),
  currency: fc.constantFrom('', 'USD'),
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
  twin: fc.option(number),
  arrival: fc.option(fc.uuid()),
});
const file = fc.record({
  seq: number,
  profile,
  id: longId,
  order_id: longId,
  url: text,
  test: fc.constantFrom(0, 1),
  state: text,
  ended: fc.constantFrom('', 'delivered', 'unfinished'),
  title: text,
  ordered_at: time,
  checked_at: fc.option(time),
  answer: fc.option(text),
  completed: fc.constantFrom(0, 1),
  details: text,
});

/** What a small ledger may hold. */
export const content = fc.record({
  orders: fc.array(
    fc.record({
      profile,
      id: longId,
      placed_at: time,
      skus: text,
      names: text,
      notes: text,
      hold: fc.option(text),
    }),
  ),
  attempts: fc.array(attempt),
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
    fc.record({ profile, id: longId, fetched_at: time, final: fc.constantFrom(0, 1), answer: text }),
  ),
  uploads: fc.array(fc.record({ profile, content: text, url: text, at: time })),
  names: fc.array(fc.tuple(text, fc.nat(), fc.nat(3), text)),
  actions: fc.array(fc.tuple(fc.nat(), fc.nat(), text, fc.constantFrom('pending', 'done', 'failed'), time)),
  event_files: fc.array(fc.tuple(longId, fc.nat())),
});
export type Content = typeof content extends fc.Arbitrary<infer T> ? T : never;

const plainTables = [
  ...(['orders', 'attempts', 'runs', 'events', 'files', 'downloads', 'kept_invoices', 'uploads'] as const),
];

/** Fills a ledger; references lead to rows that are there. */
export function fill(db: Database, given: Content): void {
  for (const table of plainTables)
    for (const row of given[table]) insert(db, table, row as Record<string, Value>);
  const ids = (table: string): number[] =>
    db.all<{ id: number }>(`SELECT id FROM ${table} ORDER BY id`).map(({ id }) => id);
  const [attempts, runs, events] = [ids('attempts'), ids('runs'), ids('events')];
  const pick = (from: number[], n: number): number => from[n % from.length] ?? 0;
  db.run('UPDATE events SET twin = NULL WHERE twin NOT IN (SELECT id FROM events)');
  if (attempts.length) {
    for (const [name, n, position, details] of given.names) {
      const to = pick(attempts, n);
      insert(db, 'attempt_urls', { attempt: to, url: name, url_key: `url ${name}`, position, details });
      insert(db, 'attempt_names', { name: `url ${name}`, attempt: to, position });
    }
    db.run(
      `INSERT OR IGNORE INTO claims (profile, name, attempt) SELECT profile, name, attempt FROM attempt_names
       JOIN attempts ON attempts.id = attempt WHERE test = 0 AND status <> 'refused'`,
    );
  }
  if (events.length)
    for (const [audiofile, n] of given.event_files)
      insert(db, 'event_files', { audiofile, event: pick(events, n) });
  if (events.length && runs.length)
    for (const [n, m, target, status, at] of given.actions)
      insert(db, 'actions', {
        ...{ event: pick(events, n), kind: 'exec', target, run: pick(runs, m) },
        ...{ status, updated_at: at },
      });
}

/** How many rows are new, updated and left out. */
export const totals = (counts: readonly TableCounts[]): number[] => [
  counts.reduce((sum, each) => sum + each.new, 0),
  counts.reduce((sum, each) => sum + each.updated, 0),
  counts.reduce((sum, each) => sum + each.orphaned, 0),
];
