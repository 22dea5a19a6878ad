/** What holds for every ledger: an export is complete, and an import of it gives the same ledger. */
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { importLines } from '../../src/ledger/dump/import.ts';
import { dumpTables } from '../../src/ledger/dump-tables.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { migrations } from '../../src/ledger/stores/schema.ts';

import { type Database, openDatabase } from '../../src/lib/sqlite.ts';
import { freshFolder } from '../support/files.ts';
import { content, fill, linesOf, sourceOf, totals } from '../support/random-ledger.ts';
import { runs, timeLimit } from '../support/runs.ts';

const never = { signal: new AbortController().signal };
const open: Array<{ close(): void }> = [];
afterAll(() => {
  for (const each of open) each.close();
});

interface Opened {
  readonly ledger: Ledger;
  readonly db: Database;
  readonly path: string;
}

async function newLedger(): Promise<Opened> {
  const path = join(freshFolder(), 'ledger.db');
  const ledger = await openLedger(path, 'default', (text) => text);
  const db = await openDatabase(path, migrations);
  open.push(ledger, db);
  return { ledger, db, path };
}

describe('an export', () => {
  it('has every table and column of the ledger', async () => {
    const { db } = await newLedger();
    const names = db
      .all<{ name: string }>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
      )
      .map(({ name }) => name);
    // What belongs to the file itself, and to its listeners.
    const listeners = ['actions', 'runs', 'leader_tasks'];
    const own = ['migrations', 'properties', ...listeners];
    const wanted = names.filter((name) => !own.includes(name));
    expect(dumpTables.map(({ name }) => name).sort()).toEqual(wanted.sort());
  });

  it(
    'gives the same lines after an import into an empty ledger, and a second import changes nothing',
    async () => {
      await fc.assert(
        fc.asyncProperty(content, async (given) => {
          const [first, second] = [await newLedger(), await newLedger()];
          await fill(first.path, given);
          const lines = await linesOf(first.ledger);
          const rows = lines.trim().split('\n').length - 2;
          expect(totals(await importLines(second.ledger, sourceOf(lines), never))).toEqual([rows, 0]);
          expect(await linesOf(second.ledger)).toBe(lines);
          expect(totals(await importLines(second.ledger, sourceOf(lines), never))).toEqual([0, 0]);
          expect(await linesOf(second.ledger)).toBe(lines);
        }),
        { numRuns: runs(25) },
      );
    },
    timeLimit(60_000),
  );

  it(
    'of two ledgers, imported into each other, makes both know the same, whichever comes first',
    async () => {
      await fc.assert(
        fc.asyncProperty(content, content, async (one, other) => {
          const [first, second] = [await newLedger(), await newLedger()];
          await fill(first.path, one);
          await fill(second.path, other);
          const [before, after] = [await linesOf(first.ledger), await linesOf(second.ledger)];
          await importLines(first.ledger, sourceOf(after), never);
          await importLines(second.ledger, sourceOf(before), never);
          const knows = ({ db }: Opened): unknown[] => [
            db.all('SELECT profile, id, state, answer FROM files ORDER BY profile, id'),
            db.all('SELECT id, status, order_id, detail FROM purchases ORDER BY id'),
            db.all('SELECT arrival FROM events WHERE arrival IS NOT NULL ORDER BY arrival'),
            db.all('SELECT profile, file, ext, folder, at FROM downloads ORDER BY 1, 2, 3, 4'),
            db.all('SELECT * FROM item_names ORDER BY profile, name, purchase, position'),
            db.all('SELECT * FROM budgets ORDER BY profile'),
            db.all('SELECT profile, id, fetched_at FROM kept_invoices ORDER BY profile, id'),
            db.all('SELECT profile, content, at FROM uploads ORDER BY profile, content'),
          ];
          expect(knows(first)).toEqual(knows(second));
          expect(totals(await importLines(first.ledger, sourceOf(after), never))[0]).toBe(0);
          expect(totals(await importLines(second.ledger, sourceOf(before), never))[0]).toBe(0);
        }),
        { numRuns: runs(15) },
      );
    },
    timeLimit(60_000),
  );
});
