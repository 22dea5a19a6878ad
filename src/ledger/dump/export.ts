/** Writes a ledger as JSON lines, page by page: however large it is, few of its rows are in memory. */
import { isUtf8 } from 'node:buffer';
import type { Value } from '../../lib/sqlite.ts';
import type { Ledger } from '../ledger.ts';
import type { ColumnInfo, Snapshot } from '../stores/store.ts';
import type { Hide } from '../table.ts';
import { BASE64, type DumpHeader, type DumpTable, dumpTables, FORMAT } from '../tables.ts';

/** Events have bodies of up to a megabyte. */
const pageRows = (table: string): number => (table === 'events' ? 20 : 200);

export type Row = Readonly<Record<string, Value>>;

/** The ledger as JSON lines, several at a time: of one profile, or of all. */
export async function* exportedLines(ledger: Ledger, allProfiles = false): AsyncGenerator<string> {
  const snapshot = await ledger.db.snapshot();
  try {
    yield* exportLines(snapshot, allProfiles ? undefined : ledger.profile, ledger.hide);
  } finally {
    await snapshot.end();
  }
}

async function* exportLines(
  snapshot: Snapshot,
  profile: string | undefined,
  hide: Hide,
): AsyncGenerator<string> {
  yield headerLine({ steno_ledger: FORMAT, profile: profile ?? null });
  let rows = 0;
  for (const table of dumpTables) {
    for await (const page of pagesOf(snapshot, table, profile)) {
      rows += page.length;
      yield page.map((row) => rowLine(table.name, row, hide)).join('');
    }
  }
  yield endLine(rows);
}

export const headerLine = (header: DumpHeader): string => `${JSON.stringify(header)}\n`;

/** By this line it is seen that nothing was cut off. */
export const endLine = (rows: number): string => `${JSON.stringify({ rows })}\n`;

/** Text is text; other bytes are base64, under a name that says so. */
export function rowLine(table: string, row: Row, hide: Hide): string {
  const fields: Record<string, unknown> = { table };
  for (const [column, value] of Object.entries(row)) {
    if (value instanceof Uint8Array && !isUtf8(value))
      fields[column + BASE64] = Buffer.from(value).toString('base64');
    else if (value instanceof Uint8Array) fields[column] = hide(Buffer.from(value).toString());
    else fields[column] = typeof value === 'string' ? hide(value) : value;
  }
  return `${JSON.stringify(fields)}\n`;
}

/** What selects a page of a table: the rows after those that were read. */
export class PageQuery {
  readonly #table: DumpTable;
  readonly #columns: string;
  readonly #profile: string | undefined;

  constructor(table: DumpTable, columns: readonly ColumnInfo[], profile: string | undefined) {
    this.#table = table;
    this.#profile = profile;
    // Quoted: `user` is a function of Postgres.
    this.#columns = columns.map(({ name }) => `"${name}"`).join(', ');
  }

  /** `descending` reads from the end: those before the ones that were read. */
  sql(isFirst: boolean, limit: number, descending = false): string {
    const { name, key, ofProfile } = this.#table;
    const conditions = [
      ...(this.#profile === undefined ? [] : [ofProfile]),
      ...(isFirst
        ? []
        : [`(${key.join(', ')}) ${descending ? '<' : '>'} (${key.map(() => '?').join(', ')})`]),
    ];
    const where = conditions.length ? `WHERE ${conditions.join(' AND ')}` : '';
    const order = key.map((column) => (descending ? `${column} DESC` : column)).join(', ');
    return `SELECT ${this.#columns} FROM ${name} ${where} ORDER BY ${order} LIMIT ${limit}`;
  }

  values(last: readonly Value[]): Value[] {
    return [...(this.#profile === undefined ? [] : [this.#profile]), ...last];
  }

  keyOf(row: Row): Value[] {
    return this.#table.key.map((column) => row[column] as Value);
  }
}

async function* pagesOf(
  snapshot: Snapshot,
  table: DumpTable,
  profile: string | undefined,
): AsyncGenerator<Row[]> {
  const query = new PageQuery(table, await snapshot.columns(table.name), profile);
  const size = pageRows(table.name);
  for (let last: Value[] = []; ; ) {
    const page = await snapshot.all<Row>(query.sql(last.length === 0, size), ...query.values(last));
    yield page;
    const end = page.at(-1);
    if (!end || page.length < size) return;
    last = query.keyOf(end);
  }
}
