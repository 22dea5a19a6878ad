/**
 * Takes an export into the ledger, all of it or nothing. The lines are first gathered in a temporary table, beside the
 * ledger and without a lock on it, however slowly they come; then one transaction does the work, with pauses in which
 * a signal is heard.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StenoError } from '../../lib/errors.ts';
import { linesOf } from '../../lib/lines.ts';
import type { Database } from '../../lib/sqlite.ts';
import { isRefusedValue } from '../../lib/sqlite-errors.ts';
import { SqliteTransaction } from '../sqlite-store.ts';
import type { Hide } from '../table.ts';
import { ImportedNumbers } from './imported-numbers.ts';
import { type Merged, RowMerger } from './merge.ts';
import { badLine, parseEnd, parseHeader, RowParser } from './parse.ts';
import { restoreClaims } from './restore-claims.ts';
import { type DumpHeader, dumpTables } from './tables.ts';

export interface TableCounts {
  readonly table: string;
  readonly new: number;
  /** The ledger had them, and the export knew more. */
  readonly updated: number;
  readonly known: number;
  /** Left out of what a damaged ledger gave: what they belong to was lost, or they make no sense. */
  readonly orphaned: number;
}

/** A body of a megabyte takes up to six as JSON. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const PAGE_LINES = 50;

export async function importLines(
  db: Database,
  source: AsyncIterable<Uint8Array>,
  hide: Hide,
  signal: AbortSignal,
): Promise<TableCounts[]> {
  const parser = new RowParser(db, hide);
  db.exec(
    `CREATE TEMP TABLE staged (of TEXT NOT NULL, line INTEGER NOT NULL, text BLOB NOT NULL, PRIMARY KEY (of, line)) WITHOUT ROWID`,
  );
  try {
    const header = await stage(db, source, parser, signal);
    return await db.durableWithPauses(() => mergeInSteps(mergeAll(db, header, parser, hide), signal));
  } finally {
    db.exec('DROP TABLE IF EXISTS temp.staged');
  }
}

async function mergeInSteps<Result>(
  steps: AsyncGenerator<void, Result>,
  signal: AbortSignal,
): Promise<Result> {
  for (;;) {
    const step = await steps.next();
    await pause(signal);
    if (step.done) return step.value;
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  await nextTurn();
  if (signal.aborted) throw new StenoError('interrupted', 'interrupted: nothing was imported');
}

/** Reads and checks every line. */
async function stage(
  db: Database,
  source: AsyncIterable<Uint8Array>,
  parser: RowParser,
  signal: AbortSignal,
): Promise<DumpHeader> {
  let header: DumpHeader | undefined;
  let end: number | undefined;
  let line = 0;
  const tooLong = (at: number): Error => badLine(at, `it is longer than ${MAX_LINE_BYTES >> 20} MB`);
  for await (const bytes of linesOf(source, MAX_LINE_BYTES, tooLong)) {
    line += 1;
    if (line % PAGE_LINES === 0) await pause(signal);
    if (!header) {
      header = parseHeader(bytes);
      continue;
    }
    if (end !== undefined) throw badLine(line, 'it stands after the end of the export');
    end = parseEnd(bytes);
    if (end !== undefined && end !== line - 2)
      throw badLine(line, `${end - line + 2} rows before it are missing`);
    if (end === undefined)
      db.run('INSERT INTO temp.staged VALUES (?, ?, ?)', parser.parse(bytes, line).table, line, bytes);
  }
  if (!header) throw badLine(1, 'the file is empty');
  if (end === undefined) throw badLine(line + 1, 'the export is cut off here');
  return header;
}

/** Stops after each page of rows. */
async function* mergeAll(
  db: Database,
  header: DumpHeader,
  parser: RowParser,
  hide: Hide,
): AsyncGenerator<void, TableCounts[]> {
  const numbers = new ImportedNumbers(db);
  try {
    const merger = new RowMerger(new SqliteTransaction(db), numbers, {
      damaged: header.damaged === true,
      profile: header.profile,
      hide,
    });
    const counts: TableCounts[] = [];
    for (const { name } of dumpTables) counts.push(yield* mergeTable(db, name, parser, merger));
    numbers.linkTwins();
    if (header.damaged) yield* restoreClaims(db, hide);
    return counts;
  } finally {
    numbers.drop();
  }
}

async function* mergeTable(
  db: Database,
  table: string,
  parser: RowParser,
  merger: RowMerger,
): AsyncGenerator<void, TableCounts> {
  const counts: Record<Merged, number> = { new: 0, updated: 0, known: 0, orphaned: 0 };
  for (let last = 0; ; ) {
    const page = db.all<{ line: number; text: Uint8Array }>(
      `SELECT line, text FROM temp.staged WHERE of = ? AND line > ? ORDER BY line LIMIT ${PAGE_LINES}`,
      table,
      last,
    );
    for (const { line, text } of page) {
      counts[await mergeLine(parser, merger, Buffer.from(text), line)] += 1;
      last = line;
    }
    if (page.length < PAGE_LINES) return { table, ...counts };
    yield;
  }
}

/** What the tables refuse is the fault of the line; any other error is not. */
async function mergeLine(parser: RowParser, merger: RowMerger, bytes: Buffer, line: number): Promise<Merged> {
  try {
    return await merger.merge(parser.parse(bytes, line), line);
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    if (merger.takesDamage) return 'orphaned';
    throw badLine(line, 'the ledger can not take this row');
  }
}
