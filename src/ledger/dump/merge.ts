/**
 * Puts rows of an export into the ledger, some at a time. What the ledger does not have is new; what it has is merged: an
 * older export never undoes what was learned since.
 */
import { isRefusedValue } from '../../lib/sqlite.ts';
import { isRefusedRow } from '../stores/postgres-connection.ts';
import { numberColumn, type Store, type Value } from '../stores/store.ts';
import { type DumpTable, jsonList } from '../table.ts';
import { bringTogether } from './derive.ts';
import { badLine } from './lines.ts';
import { type Fields, insertRows, mergeRows, placesFor } from './rules.ts';

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

/** Ids by profile. */
type Touched = Map<string, Set<string>>;

export class RowMerger {
  readonly #db: Store;
  readonly #options: MergeOptions;
  /** What has to be derived anew, when all rows are there. */
  readonly touchedPurchases: Touched = new Map();
  readonly touchedFiles: Touched = new Map();
  #lastDryNumber = 0;

  constructor(db: Store, options: MergeOptions) {
    this.#db = db;
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
      const counts = await work();
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
    const fields = await this.#withEvents(table, rows);
    this.#touchFiles(table, fields);
    switch (table.name) {
      case 'purchases':
        return this.#mergePurchases(fields);
      case 'events':
        return this.#mergeEvents(fields);
      case 'claims':
        return this.#mergeClaims(fields);
      case 'files':
        return this.#mergeFiles(fields);
      default:
        return this.#mergeByKey(table.name, fields);
    }
  }

  /** What these files cost is derived anew. */
  #touchFiles({ name }: DumpTable, rows: readonly Fields[]): void {
    const column = { files: 'id', purchase_items: 'file', invoice_lines: 'file' }[name];
    if (column === undefined) return;
    for (const fields of rows)
      if (fields[column]) touch(this.touchedFiles, String(fields.profile), String(fields[column]));
  }

  /** The fields with the numbers that events have in this ledger. */
  async #withEvents({ name, eventColumn }: DumpTable, rows: readonly StagedRow[]): Promise<Fields[]> {
    const given = rows.map(({ fields }) => fields);
    // Events may refer to one that comes after them: see linkDuplicates.
    if (eventColumn === undefined || name === 'events') return given;
    const numbers = await this.#numbersOf(given.map((fields) => fields[eventColumn]));
    return rows.map(({ fields, line }) => {
      const arrival = fields[eventColumn];
      const number = numbers.get(String(arrival)) ?? null;
      if (number === null && eventColumn === 'event')
        throw badLine(line, `it belongs to event ${arrival}, which does not precede it in the export`);
      return { ...fields, [eventColumn]: number };
    });
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
    for (const { profile, id } of rows) touch(this.touchedPurchases, String(profile), String(id));
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

  /** They never change, but for the one that each stands for: see linkDuplicates. */
  async #mergeEvents(rows: readonly Fields[]): Promise<Counts> {
    const known = await this.#numbersOf(rows.map(({ arrival }) => arrival));
    const added = rows.filter(({ arrival }) => !known.has(String(arrival)));
    await this.#insertNumbered(
      'events',
      added.map((fields) => ({ ...fields, duplicate: null })),
    );
    return { ...noRows, new: added.length, known: rows.length - added.length };
  }

  /** Which events refer to each other, when all are there. */
  async linkDuplicates(rows: readonly StagedRow[]): Promise<void> {
    const pairs = rows.flatMap(({ fields: { arrival, duplicate } }) =>
      typeof duplicate === 'string' ? [[String(arrival), duplicate] as const] : [],
    );
    if (pairs.length === 0) return;
    const numbers = await this.#numbersOf(pairs.flat());
    for (const [arrival, duplicate] of pairs)
      await this.#db.run(
        'UPDATE events SET duplicate = ? WHERE arrival = ? AND duplicate IS NULL',
        ...[numbers.get(duplicate) ?? null, arrival],
      );
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

  /** The numbers of events that the ledger has, by what each got on arrival. */
  async #numbersOf(arrivals: ReadonlyArray<Value | undefined>): Promise<ReadonlyMap<string, number>> {
    const asked = arrivals.filter((arrival) => typeof arrival === 'string');
    if (asked.length === 0) return new Map();
    const found = await this.#db.all<{ id: number; arrival: string }>(
      'SELECT id, arrival FROM events WHERE arrival IN (SELECT value FROM json_each(?))',
      jsonList(asked),
    );
    return new Map(found.map(({ id, arrival }) => [arrival, id]));
  }

  /** The database numbers new rows, in the order of the export. */
  async #insertNumbered(table: 'purchases' | 'files' | 'events', rows: readonly Fields[]): Promise<void> {
    if (rows.length === 0) return;
    const numbered = this.#options.dryRun
      ? rows.map((fields) => ({ ...fields, [numberColumn(table)]: --this.#lastDryNumber }))
      : rows;
    await insertRows(this.#db, table, numbered);
  }
}

function touch(touched: Touched, profile: string, id: string): void {
  const ids = touched.get(profile);
  if (ids) ids.add(id);
  else touched.set(profile, new Set([id]));
}
