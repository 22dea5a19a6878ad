/** What holds for every ledger: an export is complete, and an import of it gives the same ledger. */
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { dumpTables } from '../../src/ledger/dump/tables.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { migrations } from '../../src/ledger/schema.ts';
import { type Database, openDatabase, type Value } from '../../src/lib/sqlite.ts';
import { freshFolder } from '../support/files.ts';

const never = { signal: new AbortController().signal };
const open: Array<{ close(): void }> = [];
afterAll(() => {
  for (const each of open) each.close();
});

interface Opened {
  readonly ledger: Ledger;
  readonly db: Database;
}

async function newLedger(): Promise<Opened> {
  const path = join(freshFolder(), 'ledger.db');
  const ledger = await Ledger.open(path, 'default', (text) => text);
  const db = await openDatabase(path, migrations);
  open.push(ledger, db);
  return { ledger, db };
}

async function linesOf(ledger: Ledger): Promise<string> {
  let text = '';
  for await (const some of ledger.exportLines(true)) text += some;
  return text;
}

const sourceOf = async function* (text: string): AsyncGenerator<Uint8Array> {
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
  token: fc.option(fc.uuid()),
  host: text,
  pid: number,
  skus: text,
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
});

const content = fc.record({
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
  names: fc.array(fc.tuple(text, fc.nat(), fc.nat(3))),
  actions: fc.array(fc.tuple(fc.nat(), fc.nat(), text, fc.constantFrom('pending', 'done', 'failed'), time)),
  event_files: fc.array(fc.tuple(longId, fc.nat())),
});
type Content = typeof content extends fc.Arbitrary<infer T> ? T : never;

/** Fills a ledger; references lead to rows that are there. */
function fill(db: Database, given: Content): void {
  for (const table of ['orders', 'attempts', 'runs', 'events', 'files', 'downloads'] as const)
    for (const row of given[table]) insert(db, table, row as Record<string, Value>);
  const ids = (table: string): number[] =>
    db.all<{ id: number }>(`SELECT id FROM ${table} ORDER BY id`).map(({ id }) => id);
  const [attempts, runs, events] = [ids('attempts'), ids('runs'), ids('events')];
  const pick = (from: number[], n: number): number => from[n % from.length] ?? 0;
  db.run('UPDATE events SET twin = NULL WHERE twin NOT IN (SELECT id FROM events)');
  if (attempts.length) {
    for (const [name, n, position] of given.names) {
      const to = pick(attempts, n);
      insert(db, 'attempt_urls', { attempt: to, url: name, url_key: `url ${name}`, position });
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

const totals = (counts: ReadonlyArray<{ new: number; updated: number; orphaned: number }>): number[] => [
  counts.reduce((sum, each) => sum + each.new, 0),
  counts.reduce((sum, each) => sum + each.updated, 0),
  counts.reduce((sum, each) => sum + each.orphaned, 0),
];

describe('an export', () => {
  it('has every table and column of the ledger', async () => {
    const { db } = await newLedger();
    const names = db
      .all<{ name: string }>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
      )
      .map(({ name }) => name);
    // What belongs to the file itself, and the webhooks that listeners of this machine have borrowed.
    const own = ['migrations', 'properties', 'webhook_loans'];
    const wanted = names.filter((name) => !own.includes(name));
    expect(dumpTables.map(({ name }) => name).sort()).toEqual(wanted.sort());
  });

  it('gives the same lines after an import into an empty ledger, and a second import changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(content, async (given) => {
        const [first, second] = [await newLedger(), await newLedger()];
        fill(first.db, given);
        const lines = await linesOf(first.ledger);
        const rows = lines.trim().split('\n').length - 2;
        expect(totals(await second.ledger.importLines(sourceOf(lines), never))).toEqual([rows, 0, 0]);
        expect(await linesOf(second.ledger)).toBe(lines);
        expect(totals(await second.ledger.importLines(sourceOf(lines), never))).toEqual([0, 0, 0]);
        expect(await linesOf(second.ledger)).toBe(lines);
      }),
      { numRuns: 25 },
    );
  }, 60_000);

  it('of two ledgers, imported into each other, makes both know the same, whichever comes first', async () => {
    await fc.assert(
      fc.asyncProperty(content, content, async (one, other) => {
        const [first, second] = [await newLedger(), await newLedger()];
        fill(first.db, one);
        fill(second.db, other);
        const [before, after] = [await linesOf(first.ledger), await linesOf(second.ledger)];
        await first.ledger.importLines(sourceOf(after), never);
        await second.ledger.importLines(sourceOf(before), never);
        const knows = ({ db }: Opened): unknown[] => [
          db.all('SELECT profile, id FROM orders ORDER BY profile, id'),
          db.all('SELECT profile, id FROM files ORDER BY profile, id'),
          db.all('SELECT token FROM attempts WHERE token IS NOT NULL ORDER BY token'),
          db.all('SELECT arrival FROM events WHERE arrival IS NOT NULL ORDER BY arrival'),
          db.all('SELECT profile, file, ext, folder, at FROM downloads ORDER BY 1, 2, 3, 4'),
          db.all('SELECT profile, name FROM claims ORDER BY profile, name'),
        ];
        expect(knows(first)).toEqual(knows(second));
        expect(totals(await first.ledger.importLines(sourceOf(after), never))[0]).toBe(0);
        expect(totals(await second.ledger.importLines(sourceOf(before), never))[0]).toBe(0);
      }),
      { numRuns: 15 },
    );
  }, 60_000);
});
