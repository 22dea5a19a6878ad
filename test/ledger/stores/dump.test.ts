/** An export of one store is a ledger of the other: the same rows come out, whichever way they went. */
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importLines } from '../../../src/ledger/dump/import.ts';
import { Events } from '../../../src/ledger/events.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { openLedger, openSharedLedger } from '../../../src/ledger/open.ts';
import { readPostgresUrl } from '../../../src/lib/postgres-url.ts';
import { freshFolder } from '../../support/files.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { type Content, content, fill, linesOf, sourceOf, totals } from '../../support/random-ledger.ts';
import { runs, timeLimit } from '../../support/runs.ts';

const options = { signal: new AbortController().signal };
const asItIs = (text: string): string => text;

/** The rows of an export; the stores may name the columns in another order. */
const rowsOf = (lines: string): unknown[] =>
  lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe.skipIf(!postgresFolder)('an export', () => {
  let server: PostgresServer;
  let url: string;
  let schemas = 0;
  const open: Array<{ close(): unknown }> = [];
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
    url = await server.newDatabase();
  });
  /** A server takes a hundred connections, and thousands of runs more. */
  const closeAll = async (): Promise<void> => {
    for (const each of open.splice(0)) await each.close();
  };
  afterAll(async () => {
    await closeAll();
    await server?.stop();
  });

  async function inFile(given?: Content): Promise<Ledger> {
    const path = join(freshFolder(), 'ledger.db');
    const ledger = await openLedger(path, 'default', asItIs);
    open.push(ledger);
    if (given) await fill(path, given);
    return ledger;
  }

  async function inPostgres(): Promise<Ledger> {
    schemas += 1;
    const address = readPostgresUrl(`${url}?schema=s${schemas}`, {});
    const account = { name: 'default', isChosen: true, baseUrl: undefined };
    const ledger = await openSharedLedger(
      {
        ...{ address, account, timeoutMs: 20_000, queryTimeoutMs: 20_000, folder: freshFolder() },
        password: async () => '',
        onTrouble: async () => {},
      },
      asItIs,
    );
    open.push(ledger);
    return ledger;
  }

  it(
    'has the same rows after it went through both stores in every order, and a second import adds none',
    async () => {
      await fc.assert(
        fc.asyncProperty(content, async (given) => {
          const first = await linesOf(await inFile(given));
          let lines = first;
          // File to Postgres, Postgres to Postgres, Postgres to file, file to file.
          for (const make of [inPostgres, inPostgres, inFile, inFile]) {
            const target = await make();
            const counts = await importLines(target, sourceOf(lines), options);
            expect(totals(counts)).toEqual([rowsOf(lines).length - 2, 0]);
            expect(totals(await importLines(target, sourceOf(lines), options))).toEqual([0, 0]);
            lines = await linesOf(target);
            expect(rowsOf(lines)).toEqual(rowsOf(first));
          }
          await closeAll();
        }),
        { numRuns: runs(6) },
      );
    },
    timeLimit(120_000),
  );

  it('gives new rows numbers that the database does not give again', async () => {
    const [file, other] = [await inFile(), await inPostgres()];
    const event = (arrival: string): string =>
      `{"table":"events","profile":"default","source":"received","arrival":"${arrival}","received_at":"2026","remote":"","content_type":"","body":"","event":"X","version":"","audiofile":"","order_id":"","duplicate":null}`;
    const lines = ['{"steno_ledger":1,"profile":"default"}', event('b'), event('a'), '{"rows":2}\n'].join(
      '\n',
    );
    for (const ledger of [file, other]) {
      await importLines(ledger, sourceOf(lines), options);
      expect(await new Events(ledger).newIds(1)).toEqual([3]);
    }
  });

  it(
    'is counted by a trial, which writes nothing and gives no number away',
    async () => {
      await fc.assert(
        fc.asyncProperty(content, async (given) => {
          const lines = await linesOf(await inFile(given));
          const target = await inPostgres();
          const trial = await importLines(target, sourceOf(lines), { ...options, dryRun: true });
          expect(rowsOf(await linesOf(target))).toHaveLength(2);
          expect(await importLines(target, sourceOf(lines), options)).toEqual(trial);
          expect(rowsOf(await linesOf(target))).toEqual(rowsOf(lines));
          await closeAll();
        }),
        { numRuns: runs(4) },
      );
    },
    timeLimit(60_000),
  );
});
