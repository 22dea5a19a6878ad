/** Writes a ledger as JSON lines, page by page: however large it is, few of its rows are in memory. */
import { type Database, isDamaged, openDamaged, type Value } from '../../lib/sqlite.ts';
import type { Ledger } from '../ledger.ts';
import { restoreHint } from '../stores/backups.ts';
import { columnInfos } from '../stores/sqlite.ts';
import type { ColumnInfo, Snapshot } from '../stores/store.ts';
import { type DumpTable, dumpTables, type Hide } from '../table.ts';
import { endLine, FORMAT, headerLine, type Row, rowLine } from './lines.ts';

/** Events have bodies of up to a megabyte. */
const pageRows = (table: string): number => (table === 'events' ? 20 : 200);

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

/** What selects a page of a table: the rows after those that were read. */
class PageQuery {
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

// Reads a damaged ledger as far as that goes, and writes it as an export. SQLite fails at the page that is damaged; the
// rows before and after it can be read.

export interface Salvaged {
  readonly table: string;
  readonly rows: number;
  /** Whether some of its rows could not be read. */
  readonly incomplete: boolean;
}

const PAGE_ROWS = 100;
/** After so many numbers without a row that can be read, there are no more. */
const MAX_GAP = 10_000;

/** Nothing is written to it. */
export async function* salvageFile(
  path: string,
  hide: Hide,
  onTable: (salvaged: Salvaged) => void,
): AsyncGenerator<string> {
  const db = await openDamaged(path, () => restoreHint(path));
  try {
    yield* salvageLines(db, hide, onTable);
  } finally {
    db.close();
  }
}

function* salvageLines(db: Database, hide: Hide, onTable: (salvaged: Salvaged) => void): Generator<string> {
  yield headerLine({ steno_ledger: FORMAT, profile: null, damaged: true });
  let all = 0;
  for (const table of dumpTables) {
    const reader = new DamagedTable(db, table);
    let rows = 0;
    for (const row of reader.rows()) {
      rows += 1;
      yield rowLine(table.name, row, hide);
    }
    all += rows;
    onTable({ table: table.name, rows, incomplete: reader.incomplete });
  }
  yield endLine(all);
}

/** Rows of another table whose columns are the beginning of a key, or are in an index. */
interface Lead {
  readonly from: string;
  /** The columns of the table, and those of the other one. */
  readonly columns: Readonly<Record<string, string>>;
}

const leads: Readonly<Record<string, Lead>> = {
  downloads: { from: 'files', columns: { profile: 'profile', file: 'id' } },
  settlements: { from: 'purchases', columns: { purchase: 'id' } },
  purchase_items: { from: 'purchases', columns: { purchase: 'id' } },
  purchase_names: { from: 'purchases', columns: { purchase: 'id' } },
  claims: { from: 'purchases', columns: { purchase: 'id' } },
  event_files: { from: 'events', columns: { event: 'id' } },
  actions: { from: 'events', columns: { event: 'id' } },
};

/** As SQLite orders them: numbers by value, text by its bytes. An end that is empty was not reached. */
function isBetween(key: readonly Value[], start: readonly Value[], end: readonly Value[]): boolean {
  const isAfterStart = start.length === 0 || compareKeys(key, start) > 0;
  return isAfterStart && (end.length === 0 || compareKeys(key, end) < 0);
}

function compareKeys(one: readonly Value[], other: readonly Value[]): number {
  for (const [at, value] of one.entries()) {
    const order = compareValues(value, other[at] ?? null);
    if (order) return order;
  }
  return 0;
}

const compareValues = (one: Value, other: Value): number =>
  typeof one === 'number' && typeof other === 'number'
    ? one - other
    : Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)));

class DamagedTable {
  readonly #db: Database;
  readonly #table: DumpTable;
  readonly #types: ReadonlyMap<string, string>;
  readonly #query: PageQuery;
  incomplete = false;

  constructor(db: Database, table: DumpTable) {
    this.#db = db;
    this.#table = table;
    const columns = columnInfos(db, table.name);
    this.#types = new Map(columns.map(({ name, type }) => [name, type]));
    this.#query = new PageQuery(this.#table, columns, undefined);
  }

  *rows(): Generator<Row> {
    // A damaged ledger is not migrated, so it may lack a table.
    if (this.#types.size === 0) return;
    for (const row of this.#readable()) {
      if (this.#isWhole(row)) yield row;
      else this.incomplete = true;
    }
  }

  /** Up to the first damage from the start, down to the last one from the end, and between them one by one. */
  *#readable(): Generator<Row> {
    const start = yield* this.#readOn([], false);
    if (!this.#stoppedAtDamage) return;
    const end = yield* this.#readOn([], true, start);
    if (!this.#stoppedAtDamage) return;
    if (this.#table.number) yield* this.#numbered(this.#table.number, start, end);
    else yield* this.#between(start, end);
  }

  *#numbered(column: string, [start]: readonly Value[], [end]: readonly Value[]): Generator<Row> {
    const last = Number(end ?? Number.POSITIVE_INFINITY);
    for (let [n, missed] = [Number(start ?? 0) + 1, 0]; n < last && missed < MAX_GAP; n += 1) {
      const rows = this.#rowsWith({ [column]: n }) ?? [];
      missed = rows.length ? 0 : missed + 1;
      yield* rows;
    }
  }

  /** What the rows of another table lead to. */
  *#between(start: readonly Value[], end: readonly Value[]): Generator<Row> {
    const lead = leads[this.#table.name];
    const from = dumpTables.find(({ name }) => name === lead?.from);
    if (!lead || !from) return;
    const found = new Set<string>();
    for (const row of new DamagedTable(this.#db, from).rows()) {
      const values = Object.entries(lead.columns).map(([own, other]) => [own, row[other] ?? null]);
      for (const each of this.#rowsWith(Object.fromEntries(values)) ?? []) {
        const key = this.#query.keyOf(each);
        const text = JSON.stringify(key);
        if (found.has(text) || !isBetween(key, start, end)) continue;
        found.add(text);
        yield each;
      }
    }
  }

  /** Nothing where SQLite meets damage. */
  #rowsWith(values: Row): Row[] | undefined {
    const where = Object.keys(values).map((column) => `${column} = ?`);
    const names = [...this.#types.keys()].map((name) => `"${name}"`).join(', ');
    const sql = `SELECT ${names} FROM ${this.#table.name} WHERE ${where.join(' AND ')}`;
    return this.#unlessDamaged(() => this.#db.all<Row>(sql, ...Object.values(values)));
  }

  #stoppedAtDamage = false;

  /** Reads until the end or to damage; gives the key of the last row. Downwards it stops at `until`. */
  *#readOn(after: Value[], descending: boolean, until: Value[] = []): Generator<Row, Value[]> {
    this.#stoppedAtDamage = false;
    let last = after;
    for (let size = PAGE_ROWS; ; ) {
      const page = this.#page(last, size, descending);
      if (!page) {
        if (size === 1) {
          this.#stoppedAtDamage = true;
          this.incomplete = true;
          return last;
        }
        size = 1;
        continue;
      }
      for (const row of page) {
        const key = this.#query.keyOf(row);
        if (until.length && JSON.stringify(key) === JSON.stringify(until)) return last;
        yield row;
        last = key;
      }
      if (page.length < size) return last;
    }
  }

  /** Nothing where SQLite meets damage. */
  #page(last: Value[], size: number, descending: boolean): Row[] | undefined {
    const sql = this.#query.sql(last.length === 0, size, descending);
    return this.#unlessDamaged(() => this.#db.all<Row>(sql, ...this.#query.values(last)));
  }

  #unlessDamaged<Result>(read: () => Result): Result | undefined {
    try {
      return read();
    } catch (error) {
      if (isDamaged(error)) return undefined;
      throw error;
    }
  }

  /** Damage may also leave rows that can be read, with values of other types. */
  #isWhole(row: Row): boolean {
    return Object.entries(row).every(([column, value]) => {
      const type = this.#types.get(column);
      if (value === null || type === undefined) return true;
      if (type === 'INTEGER') return typeof value === 'number';
      return type === 'BLOB' ? value instanceof Uint8Array : typeof value === 'string';
    });
  }
}
