/**
 * Puts rows of an export into the ledger, some at a time. What the ledger does not have is new; what it has is merged: an
 * older export never undoes what was learned since.
 */
import { type Database, isRefusedValue } from '../../lib/sqlite.ts';
import { isRefusedRow } from '../stores/postgres-connection.ts';
import { type NumberedTable, numberColumn, type Store, type Value } from '../stores/store.ts';
import { type DumpTable, jsonList } from '../table.ts';
import { bringTogether } from './derive.ts';
import { badLine } from './lines.ts';
import { type Fields, insertRows, mergeRows, placesFor } from './rules.ts';

const PAGE_ROWS = 1_000;

/** What an import must remember of its rows: in a scratch database, because there may be a great many. */
export class ImportedNumbers {
  readonly #scratch: Database;

  constructor(scratch: Database) {
    this.#scratch = scratch;
    // A transaction that met another one is done again.
    for (const table of ['numbers', 'duplicates', 'touched']) scratch.exec(`DROP TABLE IF EXISTS ${table}`);
    scratch.exec(`
      CREATE TABLE numbers (of TEXT, old INTEGER, new INTEGER, PRIMARY KEY (of, old)) WITHOUT ROWID;
      CREATE INDEX numbers_by_new ON numbers (of, new);
      CREATE TABLE duplicates (event INTEGER PRIMARY KEY, old INTEGER NOT NULL);
      CREATE TABLE touched (of TEXT, profile TEXT, id TEXT, PRIMARY KEY (of, profile, id)) WITHOUT ROWID;`);
  }

  /** Does the work, or leaves all as it was. */
  async undoable<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#scratch.exec('SAVEPOINT numbers');
    try {
      return await work();
    } catch (error) {
      this.#scratch.exec('ROLLBACK TO numbers');
      throw error;
    } finally {
      this.#scratch.exec('RELEASE numbers');
    }
  }

  add(of: NumberedTable, old: number, now: number): void {
    this.#scratch.run('INSERT INTO numbers (of, old, new) VALUES (?, ?, ?)', of, old, now);
  }

  get(of: NumberedTable, old: number): number | undefined {
    const sql = 'SELECT new FROM numbers WHERE of = ? AND old = ?';
    return this.#scratch.get<{ new: number }>(sql, of, old)?.new;
  }

  /** Whether a row of the ledger stands for one of the export. */
  isTaken(of: NumberedTable, now: number): boolean {
    return this.#scratch.get('SELECT 1 FROM numbers WHERE of = ? AND new = ?', of, now) !== undefined;
  }

  /** What has to be derived anew, when all rows are there. */
  touch(of: 'purchases' | 'files', profile: string, ids: readonly string[]): void {
    for (const id of ids)
      this.#scratch.run('INSERT OR IGNORE INTO touched (of, profile, id) VALUES (?, ?, ?)', of, profile, id);
  }

  /** In pages, each of one profile. */
  *touched(of: 'purchases' | 'files'): Generator<{ readonly profile: string; readonly ids: string[] }> {
    const profiles = this.#scratch.all<{ profile: string }>(
      'SELECT DISTINCT profile FROM touched WHERE of = ? ORDER BY profile',
      of,
    );
    for (const { profile } of profiles)
      for (let last = ''; ; ) {
        const page = this.#scratch.all<{ id: string }>(
          `SELECT id FROM touched WHERE of = ? AND profile = ? AND id > ? ORDER BY id LIMIT ${PAGE_ROWS}`,
          ...[of, profile, last],
        );
        if (page.length) yield { profile, ids: page.map(({ id }) => id) };
        if (page.length < PAGE_ROWS) break;
        last = page.at(-1)?.id ?? last;
      }
  }

  /** The event may refer to one that comes after it. */
  addDuplicate(event: number, old: number): void {
    this.#scratch.run('INSERT INTO duplicates (event, old) VALUES (?, ?)', event, old);
  }

  /** Writes which events refer to each other, under their new numbers. */
  async linkDuplicates(db: Store): Promise<void> {
    for (let last = Number.MIN_SAFE_INTEGER; ; ) {
      const page = this.#scratch.all<{ event: number; duplicate: number }>(
        `SELECT event, numbers.new AS duplicate FROM duplicates JOIN numbers ON numbers.of = 'events' AND numbers.old = duplicates.old
         WHERE event > ? ORDER BY event LIMIT ${PAGE_ROWS}`,
        last,
      );
      if (page.length === 0) return;
      await db.run(
        `UPDATE events SET duplicate = CAST(column2 AS BIGINT) FROM (VALUES ${page.map(() => '(?, ?)').join(', ')}) AS given
         WHERE events.id = CAST(column1 AS BIGINT) AND events.duplicate IS NULL`,
        ...page.flatMap(({ event, duplicate }) => [event, duplicate]),
      );
      last = page.at(-1)?.event ?? last;
    }
  }
}

export interface Counts {
  readonly new: number;
  /** The ledger had them, and the export knew more. */
  readonly updated: number;
  readonly known: number;
}

export const noRows: Counts = { new: 0, updated: 0, known: 0 };

export const sumOf = (one: Counts, other: Counts): Counts => ({
  new: one.new + other.new,
  updated: one.updated + other.updated,
  known: one.known + other.known,
});

/** A row of the export, and its line. */
export interface StagedRow {
  readonly line: number;
  readonly fields: Fields;
}

interface MergeOptions {
  /** Purchases that the ledger has under another profile come to the one of the export, with all their rows. */
  readonly moves: boolean;
  /** All is undone at the end: new rows get numbers that the ledger never gives. */
  readonly dryRun: boolean;
}

export class RowMerger {
  readonly #db: Store;
  readonly #numbers: ImportedNumbers;
  readonly #options: MergeOptions;
  #lastDryNumber = 0;

  constructor(db: Store, numbers: ImportedNumbers, options: MergeOptions) {
    this.#db = db;
    this.#numbers = numbers;
    this.#options = options;
  }

  /** What the tables refuse is the fault of a line, which is then looked for; any other error is not. */
  async merge(table: DumpTable, rows: readonly StagedRow[]): Promise<Counts> {
    try {
      return await this.#undoable(() => this.#merge(table, rows));
    } catch (error) {
      if (!isRefusedValue(error) && !isRefusedRow(error)) throw error;
      const [only] = rows;
      if (only && rows.length === 1) throw badLine(only.line, "the ledger can't store this row");
    }
    let counts = noRows;
    for (const row of rows) counts = sumOf(counts, await this.merge(table, [row]));
    return counts;
  }

  async #undoable(work: () => Promise<Counts>): Promise<Counts> {
    await this.#db.run('SAVEPOINT rows');
    try {
      const counts = await this.#numbers.undoable(work);
      await this.#db.run('RELEASE SAVEPOINT rows');
      return counts;
    } catch (error) {
      // A connection that is lost has undone everything, and its own error is the one to tell.
      await this.#db.run('ROLLBACK TO SAVEPOINT rows').catch(() => {});
      throw error;
    }
  }

  async #merge(table: DumpTable, rows: readonly StagedRow[]): Promise<Counts> {
    if (table.ofPurchase) await this.#checkPurchases(rows);
    const resolved = rows.map((row) => this.#resolve(table, row));
    const counts = resolved.length ? await this.#mergeResolved(table, resolved) : noRows;
    this.#touchFiles(table, resolved);
    return counts;
  }

  /** What these files cost is derived anew. */
  #touchFiles({ name }: DumpTable, rows: readonly Fields[]): void {
    const column = { files: 'id', purchase_items: 'file', invoice_lines: 'file' }[name];
    if (column === undefined) return;
    for (const fields of rows)
      if (fields[column]) this.#numbers.touch('files', String(fields.profile), [String(fields[column])]);
  }

  #mergeResolved(table: DumpTable, rows: readonly Fields[]): Promise<Counts> {
    switch (table.name) {
      case 'purchases':
        return this.#mergePurchases(rows);
      case 'events':
        return this.#mergeEvents(rows);
      case 'runs':
        return this.#mergeRuns(rows);
      case 'claims':
        return this.#mergeClaims(rows);
      case 'files':
        return this.#mergeFiles(rows);
      default:
        return this.#mergeByKey(table.name, rows);
    }
  }

  /** The fields with the numbers of this ledger. */
  #resolve({ name, refs = {} }: DumpTable, { fields: given, line }: StagedRow): Fields {
    // Events may refer to one that comes after them: that is written at the end.
    if (name === 'events') return given;
    const fields = { ...given };
    for (const [column, of] of Object.entries(refs)) {
      const old = given[column];
      if (typeof old !== 'number') continue;
      const now = this.#numbers.get(of, old);
      if (now === undefined && column !== 'found')
        throw badLine(line, `it belongs to row ${old} of '${of}', which does not precede it in the export`);
      fields[column] = now ?? null;
    }
    return fields;
  }

  async #checkPurchases(rows: readonly StagedRow[]): Promise<void> {
    const known = await this.#profilesOf(rows.map(({ fields }) => fields.purchase));
    for (const { line, fields } of rows)
      if (!known.has(String(fields.purchase)))
        throw badLine(
          line,
          `it belongs to purchase ${fields.purchase}, which does not precede it in the export`,
        );
  }

  /** Those of these purchases that the ledger has, and whose they are. */
  async #profilesOf(ids: ReadonlyArray<Value | undefined>): Promise<Map<string, string>> {
    const rows = await this.#db.all<{ id: string; profile: string }>(
      'SELECT id, profile FROM purchases WHERE id IN (SELECT value FROM json_each(?))',
      jsonList(ids.map(String)),
    );
    return new Map(rows.map(({ id, profile }) => [id, profile]));
  }

  async #mergePurchases(rows: readonly Fields[]): Promise<Counts> {
    const profiles = await this.#profilesOf(rows.map(({ id }) => id));
    const [known, added] = [
      rows.filter(({ id }) => profiles.has(String(id))),
      rows.filter(({ id }) => !profiles.has(String(id))),
    ];
    await bringTogether(this.#db, known, profiles, this.#options.moves);
    for (const { profile, id } of rows) this.#numbers.touch('purchases', String(profile), [String(id)]);
    return this.#addAndMerge('purchases', added, known);
  }

  async #addAndMerge(
    table: 'purchases' | 'files',
    added: readonly Fields[],
    known: readonly Fields[],
  ): Promise<Counts> {
    await this.#insertNumbered(table, added);
    // A number that is never used: without one, the database would give one away.
    const unnumbered = known.map((fields) => ({ ...fields, [numberColumn(table)]: -1 }));
    const updated = await mergeRows(this.#db, table, unnumbered);
    return { ...noRows, new: added.length, updated, known: known.length - updated };
  }

  /** Who holds a name is derived at the end: here none is added that the ledger knows to be free. */
  async #mergeClaims(rows: readonly Fields[]): Promise<Counts> {
    const refused = await this.#db.all<{ id: string }>(
      "SELECT id FROM purchases WHERE status = 'refused' AND id IN (SELECT value FROM json_each(?))",
      jsonList(rows.map(({ purchase }) => String(purchase))),
    );
    const isRefused = new Set(refused.map(({ id }) => id));
    const held = rows.filter(({ purchase }) => !isRefused.has(String(purchase)));
    const counts = held.length ? await this.#mergeByKey('claims', held) : noRows;
    return { ...counts, known: counts.known + rows.length - held.length };
  }

  async #mergeRuns(rows: readonly Fields[]): Promise<Counts> {
    const { known, added } = split(rows, await this.#alike('runs', rows));
    await this.#addNumbered('runs', added);
    for (const [id, fields] of known) this.#numbers.add('runs', Number(fields.id), id);
    return { ...noRows, new: added.length, known: known.length };
  }

  async #mergeEvents(rows: readonly Fields[]): Promise<Counts> {
    const byArrival = await this.#byArrival(rows);
    const alike = await this.#alike(
      'events',
      rows.filter(({ arrival }) => arrival == null),
    );
    const { known, added } = split(rows, (fields) =>
      typeof fields.arrival === 'string' ? byArrival.get(fields.arrival) : alike(fields),
    );
    const numbers = await this.#addNumbered(
      'events',
      added.map((fields) => ({
        ...fields,
        duplicate: null,
      })),
    );
    for (const [id, fields] of known) this.#numbers.add('events', Number(fields.id), id);
    const all = [...known, ...added.map((fields, at) => [numbers[at] as number, fields] as const)];
    for (const [id, { duplicate }] of all)
      if (typeof duplicate === 'number') this.#numbers.addDuplicate(id, duplicate);
    return { ...noRows, new: added.length, known: known.length };
  }

  async #mergeFiles(rows: readonly Fields[]): Promise<Counts> {
    const keys = rows.map(({ profile, id }) => [profile ?? null, id ?? null]);
    const found = await this.#db.all<{ profile: string; id: string }>(
      `SELECT files.profile, files.id FROM (VALUES ${placesFor(keys)}) AS given
       CROSS JOIN files ON files.profile = column1 AND files.id = column2`,
      ...keys.flat(),
    );
    const known = new Set(found.map(({ profile, id }) => JSON.stringify([profile, id])));
    const isKnown = ({ profile, id }: Fields): boolean => known.has(JSON.stringify([profile, id]));
    return this.#addAndMerge(
      'files',
      rows.filter((fields) => !isKnown(fields)),
      rows.filter(isKnown),
    );
  }

  async #mergeByKey(table: string, rows: readonly Fields[]): Promise<Counts> {
    const added = await insertRows(this.#db, table, rows, 'leave');
    const updated = added === rows.length ? 0 : await mergeRows(this.#db, table, rows);
    return { ...noRows, new: added, updated, known: rows.length - added - updated };
  }

  /**
   * Finds the row of the ledger that is one of these, which no client gave an id: by what they say. Of equal rows each
   * stands for one, in the order of their numbers.
   */
  async #alike(
    table: keyof typeof alikeBy,
    rows: readonly Fields[],
  ): Promise<(fields: Fields) => number | undefined> {
    const [first, ...others] = alikeBy[table];
    const asked = new Set(rows.map((fields) => String(fields[first])));
    const found = asked.size
      ? await this.#db.all<Fields & { id: number }>(
          `SELECT id, ${[first, ...others].join(', ')} FROM ${table}
           WHERE ${first} IN (SELECT value FROM json_each(?)) AND ${isUnnamed[table]} ORDER BY id`,
          jsonList([...asked]),
        )
      : [];
    const keyOf = (fields: Fields): string =>
      [first, ...others].map((column) => keyText(fields[column])).join();
    const free = new Map<string, number[]>();
    for (const row of found)
      if (!this.#numbers.isTaken(table, row.id))
        free.set(keyOf(row), [...(free.get(keyOf(row)) ?? []), row.id]);
    return (fields) => free.get(keyOf(fields))?.shift();
  }

  /** The numbers of events by the id that they got on arrival. */
  async #byArrival(rows: readonly Fields[]): Promise<ReadonlyMap<string, number>> {
    const arrivals = rows.flatMap(({ arrival }) => (typeof arrival === 'string' ? [arrival] : []));
    if (arrivals.length === 0) return new Map();
    const found = await this.#db.all<{ id: number; arrival: string }>(
      'SELECT id, arrival FROM events WHERE arrival IN (SELECT value FROM json_each(?))',
      JSON.stringify(arrivals),
    );
    return new Map(found.map(({ id, arrival }) => [arrival, id]));
  }

  /** Adds rows that have numbers which others refer to; gives their numbers in this ledger. */
  async #addNumbered(table: 'events' | 'runs', rows: readonly Fields[]): Promise<number[]> {
    const numbers = await this.#insertNumbered(table, rows);
    for (const [at, fields] of rows.entries())
      this.#numbers.add(table, Number(fields.id), numbers[at] as number);
    return numbers;
  }

  async #insertNumbered(table: NumberedTable, rows: readonly Fields[]): Promise<number[]> {
    if (rows.length === 0) return [];
    const column = numberColumn(table);
    const wanted = rows.map((fields) => Number(fields[column] ?? 0));
    const numbers = this.#options.dryRun
      ? rows.map(() => --this.#lastDryNumber)
      : await this.#db.idsFor(table, wanted);
    await insertRows(
      this.#db,
      table,
      rows.map((fields, at) => ({ ...fields, [column]: numbers[at] as number })),
    );
    return numbers;
  }
}

/** What tells rows apart that have no id made by a client; by the first they are looked for. */
const alikeBy = {
  events: ['audiofile', 'profile', 'received_at', 'event', 'body'],
  runs: ['started_at', 'profile', 'host', 'pid'],
} as const;

/** Which of them have none. An event without one was made by us, for a file. */
const isUnnamed = { events: "arrival IS NULL AND audiofile <> ''", runs: 'TRUE' } as const;

const keyText = (value: Value | undefined): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : JSON.stringify(value);

/** Rows that the ledger has, under their numbers there, and rows that it does not have. */
function split(
  rows: readonly Fields[],
  find: (fields: Fields) => number | undefined,
): { readonly known: ReadonlyArray<readonly [number, Fields]>; readonly added: readonly Fields[] } {
  const known: Array<readonly [number, Fields]> = [];
  const added: Fields[] = [];
  for (const fields of rows) {
    const id = find(fields);
    if (id === undefined) added.push(fields);
    else known.push([id, fields]);
  }
  return { known, added };
}
