/**
 * Puts rows of an export into the ledger, some at a time. What the ledger does not have is new; of what it has, the
 * later word stays: an older export never undoes what was learned since.
 */
import { randomUUID } from 'node:crypto';
import { isRefusedValue } from '../../lib/sqlite-errors.ts';
import { Claims } from '../claims.ts';
import { isRefusedRow } from '../postgres/failures.ts';
import type { Store, Value } from '../store.ts';
import type { Hide } from '../table.ts';
import { timestamp } from '../table.ts';
import type { ImportedNumbers } from './imported-numbers.ts';
import { isLaterEnd } from './merge-rules.ts';
import { badLine } from './parse.ts';
import { type Fields, insertRows, placesFor, updateRows } from './rows-sql.ts';
import type { DumpTable, NumberedTable } from './tables.ts';

export interface Counts {
  readonly new: number;
  /** The ledger had them, and the export knew more. */
  readonly updated: number;
  readonly known: number;
  /** Left out of what a damaged ledger gave: what they belong to was lost, or they make no sense. */
  readonly orphaned: number;
}

export const noRows: Counts = { new: 0, updated: 0, known: 0, orphaned: 0 };

export const sumOf = (one: Counts, other: Counts): Counts => ({
  new: one.new + other.new,
  updated: one.updated + other.updated,
  known: one.known + other.known,
  orphaned: one.orphaned + other.orphaned,
});

/** A row of the export, and its line. */
export interface StagedRow {
  readonly line: number;
  readonly fields: Fields;
}

interface MergeOptions {
  /** Rows may be missing: what belongs to one is taken in as far as it makes sense. */
  readonly damaged: boolean;
  /** Whose rows they are; null: those of several. */
  readonly profile: string | null;
  readonly hide: Hide;
  /** All is undone at the end: new rows get numbers that the ledger never gives. */
  readonly dryRun: boolean;
}

interface AttemptRow {
  readonly id: number;
  readonly profile: string;
  readonly status: string;
  readonly ended_at: string | null;
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
      if (only && rows.length === 1) {
        if (this.#options.damaged) return { ...noRows, orphaned: 1 };
        throw badLine(only.line, 'the ledger can not take this row');
      }
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
    const resolved: Fields[] = [];
    for (const row of rows) {
      const fields = await this.#resolve(table, row);
      if (fields) resolved.push(fields);
    }
    const counts = resolved.length ? await this.#mergeResolved(table, resolved) : noRows;
    return { ...counts, orphaned: counts.orphaned + rows.length - resolved.length };
  }

  #mergeResolved(table: DumpTable, rows: readonly Fields[]): Promise<Counts> {
    switch (table.name) {
      case 'attempts':
        return this.#mergeAttempts(rows);
      case 'events':
        return this.#mergeEvents(rows);
      case 'runs':
        return this.#mergeRuns(rows);
      case 'attempt_urls':
        return this.#mergeUrls(rows);
      case 'claims':
        return this.#mergeClaims(rows);
      case 'files':
        return this.#mergeFiles(rows);
      default:
        return this.#mergeByKey(table.name, rows);
    }
  }

  /** The fields with the numbers of this ledger; nothing where the row belongs to one that was lost. */
  async #resolve(
    { name, refs = {} }: DumpTable,
    { fields: given, line }: StagedRow,
  ): Promise<Fields | undefined> {
    // Events may refer to one that comes after them: that is written at the end.
    if (name === 'events') return given;
    const fields = { ...given };
    for (const [column, of] of Object.entries(refs)) {
      const old = given[column];
      if (typeof old !== 'number') continue;
      const now = this.#numbers.get(of, old) ?? (await this.#substitute(of, old, given.profile));
      if (now === undefined && column !== 'found') {
        if (this.#options.damaged) return undefined;
        throw badLine(line, `it belongs to row ${old} of '${of}', which is not in the export before it`);
      }
      fields[column] = now ?? null;
    }
    return fields;
  }

  /** An attempt that was lost still holds its audios: as one whose end is not known, so that nothing is bought twice. */
  async #substitute(of: NumberedTable, old: number, profile: Value | undefined): Promise<number | undefined> {
    if (of !== 'attempts' || !this.#options.damaged) return undefined;
    const [now] = await this.#addNumbered('attempts', [
      {
        ...{ id: old, token: randomUUID(), status: 'uncertain', test: 0, started_at: timestamp() },
        profile: profile ?? this.#options.profile ?? 'default',
        detail: 'its record was lost with a damaged ledger',
      },
    ]);
    return now;
  }

  async #mergeAttempts(rows: readonly Fields[]): Promise<Counts> {
    const byToken = await this.#idsBy('attempts', 'token', rows);
    const { known, added } = this.#split(rows, (fields) => byToken.get(String(fields.token)));
    await this.#addNumbered('attempts', added);
    for (const [id, fields] of known) this.#numbers.add('attempts', Number(fields.id), id);
    const updated = await this.#endAttempts(known);
    return { ...noRows, new: added.length, updated, known: known.length - updated };
  }

  /** The export may know how attempts ended; gives the number of those. */
  async #endAttempts(known: ReadonlyArray<readonly [number, Fields]>): Promise<number> {
    if (known.length === 0) return 0;
    const own = await this.#attempts(known.map(([id]) => id));
    let updated = 0;
    for (const [id, { status, ended_at, order_id, detail }] of known) {
      const attempt = own.get(id);
      const end = { status: String(status), ended_at: ended_at == null ? null : String(ended_at) };
      if (!attempt || !isLaterEnd(end, attempt)) continue;
      updated += 1;
      await this.#db.run(
        'UPDATE attempts SET status = ?, ended_at = ?, order_id = ?, detail = ? WHERE id = ?',
        ...[status, ended_at, order_id, detail].map((value) => value ?? null),
        id,
      );
      const { hide } = this.#options;
      if (status === 'refused')
        await new Claims({ db: this.#db, profile: attempt.profile, hide }).release(id);
    }
    return updated;
  }

  async #attempts(ids: readonly number[]): Promise<Map<number, AttemptRow>> {
    const rows = await this.#db.all<AttemptRow>(
      `SELECT id, profile, status, ended_at FROM attempts
       WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`,
      JSON.stringify(ids),
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Of an attempt that the ledger knew, it knows the URLs too. */
  async #mergeUrls(rows: readonly Fields[]): Promise<Counts> {
    const added = rows.filter(({ attempt }) => this.#numbers.isNewAttempt(Number(attempt)));
    await insertRows(this.#db, 'attempt_urls', added);
    return { ...noRows, new: added.length, known: rows.length - added.length };
  }

  async #mergeClaims(rows: readonly Fields[]): Promise<Counts> {
    const attempts = await this.#attempts(rows.map(({ attempt }) => Number(attempt)));
    // The ledger knows that it was refused, the export did not yet.
    const held = rows.filter(({ attempt }) => attempts.get(Number(attempt))?.status !== 'refused');
    const counts = await this.#mergeByKey('claims', held);
    return { ...counts, known: counts.known + rows.length - held.length };
  }

  async #mergeRuns(rows: readonly Fields[]): Promise<Counts> {
    const { known, added } = this.#split(rows, (fields) => this.#takeEarlier('runs', fields));
    await this.#addNumbered('runs', added);
    for (const [id, fields] of known) this.#numbers.add('runs', Number(fields.id), id);
    return { ...noRows, new: added.length, known: known.length };
  }

  async #mergeEvents(rows: readonly Fields[]): Promise<Counts> {
    const byArrival = await this.#idsBy('events', 'arrival', rows);
    const bodies = await this.#bodies(
      rows.flatMap((fields) => (fields.arrival == null ? this.#numbers.earlier('events', fields) : [])),
    );
    const { known, added } = this.#split(rows, (fields) => {
      if (typeof fields.arrival === 'string') return byArrival.get(fields.arrival);
      const isSame = (id: number): boolean => isEqual(bodies.get(id), fields.body);
      return this.#takeEarlier('events', fields, isSame);
    });
    const numbers = await this.#addNumbered(
      'events',
      added.map((fields) => ({ ...fields, twin: null })),
    );
    for (const [id, fields] of known) this.#numbers.add('events', Number(fields.id), id);
    const all = [...known, ...added.map((fields, at) => [numbers[at] as number, fields] as const)];
    for (const [id, { twin }] of all) if (typeof twin === 'number') this.#numbers.addTwin(id, twin);
    return { ...noRows, new: added.length, known: known.length };
  }

  async #bodies(ids: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#db.all<{ id: number; body: Uint8Array }>(
      'SELECT id, body FROM events WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))',
      JSON.stringify(ids),
    );
    return new Map(rows.map(({ id, body }) => [id, body]));
  }

  async #mergeFiles(rows: readonly Fields[]): Promise<Counts> {
    const keys = rows.map(({ profile, id }) => [profile ?? null, id ?? null]);
    const found = await this.#db.all<{ profile: string; id: string }>(
      `SELECT files.profile, files.id FROM (VALUES ${placesFor(keys)}) AS given
       CROSS JOIN files ON files.profile = column1 AND files.id = column2`,
      ...keys.flat(),
    );
    const isKnown = new Set(found.map(({ profile, id }) => JSON.stringify([profile, id])));
    const isNew = ({ profile, id }: Fields): boolean => !isKnown.has(JSON.stringify([profile, id]));
    const added = rows.filter(isNew);
    const numbers = await this.#newNumbers('files', added);
    await insertRows(
      this.#db,
      'files',
      added.map((fields, at) => ({ ...fields, seq: numbers[at] as number })),
    );
    // A number that is never used: without one, the database would give one away.
    const known = rows.filter((fields) => !isNew(fields)).map((fields) => ({ ...fields, seq: -1 }));
    const updated = await updateRows(this.#db, 'files', known);
    return { ...noRows, new: added.length, updated, known: known.length - updated };
  }

  async #mergeByKey(table: string, rows: readonly Fields[]): Promise<Counts> {
    const added = await insertRows(this.#db, table, rows, 'leave');
    const updated = added === rows.length ? 0 : await updateRows(this.#db, table, rows);
    return { ...noRows, new: added, updated, known: rows.length - added - updated };
  }

  /** Rows that the ledger has, under their numbers there, and rows that it does not have. */
  #split(
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

  /** The first row that does not stand for another one of the export. */
  #takeEarlier(
    of: 'runs' | 'events',
    fields: Fields,
    isSame: (id: number) => boolean = () => true,
  ): number | undefined {
    const id = this.#numbers.earlier(of, fields).find(isSame);
    if (id !== undefined) this.#numbers.take(of, id);
    return id;
  }

  /** The numbers of rows by an id that a client made. */
  async #idsBy(
    table: 'attempts' | 'events',
    column: 'token' | 'arrival',
    rows: readonly Fields[],
  ): Promise<ReadonlyMap<string, number>> {
    const made = rows.flatMap((fields) => (typeof fields[column] === 'string' ? [fields[column]] : []));
    if (made.length === 0) return new Map();
    const found = await this.#db.all<{ id: number; made: string }>(
      `SELECT id, ${column} AS made FROM ${table} WHERE ${column} IN (SELECT value FROM json_each(?))`,
      JSON.stringify(made),
    );
    return new Map(found.map((row) => [row.made, row.id]));
  }

  /** Adds rows that have numbers which others refer to; gives their numbers in this ledger. */
  async #addNumbered(table: 'attempts' | 'events' | 'runs', rows: readonly Fields[]): Promise<number[]> {
    const numbers = await this.#newNumbers(table, rows);
    await insertRows(
      this.#db,
      table,
      rows.map((fields, at) => ({ ...fields, id: numbers[at] as number })),
    );
    for (const [at, fields] of rows.entries()) {
      const now = numbers[at] as number;
      this.#numbers.add(table, Number(fields.id), now);
      if (table === 'attempts') this.#numbers.addNewAttempt(now);
    }
    return numbers;
  }

  async #newNumbers(table: NumberedTable, rows: readonly Fields[]): Promise<number[]> {
    if (this.#options.dryRun) return rows.map(() => --this.#lastDryNumber);
    const wanted = rows.map((fields) => Number(fields[table === 'files' ? 'seq' : 'id'] ?? 0));
    return rows.length ? this.#db.idsFor(table, wanted) : [];
  }
}

const isEqual = (own: Uint8Array | undefined, given: Value | undefined): boolean =>
  own !== undefined && given instanceof Uint8Array && Buffer.compare(own, given) === 0;
