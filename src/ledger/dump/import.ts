/**
 * Takes an export into the ledger, all of it or nothing. The lines are first gathered in a scratch database, beside the
 * ledger and without a lock on it, however slowly they come; then one transaction does the work, with pauses in which
 * a signal is heard.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { StenoError } from '../../lib/errors.ts';
import { linesOf } from '../../lib/lines.ts';
import { noReport, type Report } from '../../lib/progress.ts';
import { type Database, openScratch } from '../../lib/sqlite.ts';
import { dumpTables } from '../dump-tables.ts';
import type { Ledger } from '../ledger.ts';
import type { Store } from '../stores/store.ts';
import { deriveAll } from './derive.ts';
import {
  badLine,
  type DumpHeader,
  type DumpRow,
  pageRows,
  parseEnd,
  parseHeader,
  RowParser,
} from './lines.ts';
import { type Counts, noRows, RowMerger, type StagedRow, sumOf } from './merge.ts';

export interface TableCounts extends Counts {
  readonly table: string;
}

export interface ImportOptions {
  readonly signal: AbortSignal;
  /** Whose rows they become, where the export is of one profile; absent: they stay those of the export's. */
  readonly as?: string | undefined;
  /** Purchases that are those of another profile here become those of this one too. */
  readonly moves?: boolean;
  /** Counts only: all is undone. */
  readonly dryRun?: boolean;
  /** Told whose rows the export has, before anything is written. */
  readonly onHeader?: (header: DumpHeader) => void;
  readonly report?: Report;
  /** What else is written in the same transaction, at its end. */
  readonly finally?: (store: Store) => Promise<unknown>;
}

/** A body of a megabyte takes up to six as JSON. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const LINES_PER_PAUSE = 50;

/** All lines or none: none if the signal fires. */
export async function importLines(
  { db, hide }: Ledger,
  source: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<TableCounts[]> {
  const scratch = await openScratch();
  try {
    const snapshot = await db.snapshot();
    const parser = await RowParser.of(snapshot, hide).finally(() => snapshot.end());
    const staged = new StagedLines(scratch, parser, options);
    await staged.readAll(source);
    return await mergeDurably(db, staged, options);
  } finally {
    scratch.close();
  }
}

/** Undoes a trial. */
class Trial extends Error {}

async function mergeDurably(
  store: Store,
  staged: StagedLines,
  options: ImportOptions,
): Promise<TableCounts[]> {
  let counts: TableCounts[] = [];
  try {
    await store.durable(async (db) => {
      counts = await mergeAll(db, staged, options);
      if (options.dryRun) throw new Trial('a trial is undone');
      await options.finally?.(db);
    });
  } catch (error) {
    if (!(error instanceof Trial)) throw error;
  }
  return counts;
}

async function pause(signal: AbortSignal): Promise<void> {
  await nextTurn();
  if (signal.aborted) throw new StenoError('interrupted', 'interrupted: nothing was imported');
}

/** The lines of an export, by table. */
class StagedLines {
  readonly #scratch: Database;
  readonly parser: RowParser;
  readonly #options: ImportOptions;
  readonly #profiles = new Set<string>();
  #header: DumpHeader | undefined;
  #rows = 0;

  constructor(scratch: Database, parser: RowParser, options: ImportOptions) {
    this.#scratch = scratch;
    this.parser = parser;
    this.#options = options;
    // One transaction for all that is written here: it is never committed.
    scratch.exec(`BEGIN;
      CREATE TABLE staged (of TEXT NOT NULL, line INTEGER NOT NULL, text BLOB NOT NULL, PRIMARY KEY (of, line)) WITHOUT ROWID`);
  }

  get rows(): number {
    return this.#rows;
  }

  /** Whose rows they are, in this ledger. */
  get profiles(): readonly string[] {
    return [...this.#profiles];
  }

  /** Reads and checks every line. */
  async readAll(source: AsyncIterable<Uint8Array>): Promise<void> {
    let end: number | undefined;
    let line = 0;
    const tooLong = (at: number): Error => badLine(at, `it is longer than ${MAX_LINE_BYTES >> 20} MB`);
    for await (const bytes of linesOf(source, MAX_LINE_BYTES, tooLong)) {
      line += 1;
      if (line % LINES_PER_PAUSE === 0) {
        this.#options.report?.({ done: this.#rows, unit: 'row' });
        await pause(this.#options.signal);
      }
      if (!this.#header) {
        this.#setHeader(parseHeader(bytes));
        continue;
      }
      if (end !== undefined) throw badLine(line, 'it follows the end of the export');
      end = parseEnd(bytes);
      if (end !== undefined && end !== line - 2)
        throw badLine(line, `${end - line + 2} rows before it are missing`);
      if (end === undefined) this.#add(bytes, line);
    }
    if (!this.#header) throw badLine(1, 'the file is empty');
    if (end === undefined) throw badLine(line + 1, 'the export is cut off here');
  }

  #setHeader(header: DumpHeader): void {
    if (header.profile === null && this.#options.as !== undefined)
      throw badLine(1, "the export contains several profiles, which can't become one");
    this.#header = { ...header, profile: this.#options.as ?? header.profile };
    this.#options.onHeader?.(header);
  }

  #add(bytes: Buffer, line: number): void {
    const { table, fields } = this.#parse(bytes, line);
    if (typeof fields.profile === 'string') this.#profiles.add(fields.profile);
    this.#rows += 1;
    this.#scratch.run('INSERT INTO staged VALUES (?, ?, ?)', table, line, bytes);
  }

  #parse(bytes: Buffer, line: number): DumpRow {
    const { table, fields } = this.parser.parse(bytes, line);
    const { as } = this.#options;
    if (as === undefined || fields.profile === undefined) return { table, fields };
    return { table, fields: { ...fields, profile: as } };
  }

  *pages(name: string): Generator<StagedRow[]> {
    const limit = pageRows(name);
    for (let last = 0; ; ) {
      const page = this.#scratch.all<{ line: number; text: Uint8Array }>(
        `SELECT line, text FROM staged WHERE of = ? AND line > ? ORDER BY line LIMIT ${limit}`,
        name,
        last,
      );
      if (page.length)
        yield page.map(({ line, text }) => ({ line, fields: this.#parse(Buffer.from(text), line).fields }));
      if (page.length < limit) return;
      last = page.at(-1)?.line ?? last;
    }
  }
}

async function mergeAll(
  db: Store,
  staged: StagedLines,
  { moves = false, report = noReport, signal }: ImportOptions,
): Promise<TableCounts[]> {
  // One import at a time: two of the same rows would take them for new ones, both of them.
  await db.lock('import');
  const merger = new RowMerger(db, staged.parser.types, moves);
  const all: TableCounts[] = [];
  let done = 0;
  report({ what: 'Writing', done, of: staged.rows, unit: 'row' });
  for (const table of dumpTables) {
    let counts = noRows;
    for (const page of staged.pages(table.name)) {
      counts = sumOf(counts, await merger.merge(table, page));
      done += page.length;
      report({ done });
      await pause(signal);
    }
    all.push({ table: table.name, ...counts });
  }
  for (const page of staged.pages('events')) await merger.linkDuplicates(page);
  for await (const _ of deriveAll(db, merger, staged.profiles)) await pause(signal);
  return all;
}
