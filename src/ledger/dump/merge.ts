/**
 * Puts one row of an export into the ledger. What the ledger does not have is new; of what it has, the later word
 * stays: an older export never undoes what was learned since.
 */
import { Claims } from '../claims.ts';
import type { Store, Value } from '../store.ts';
import type { Hide } from '../table.ts';
import { timestamp } from '../table.ts';
import type { ImportedNumbers } from './imported-numbers.ts';
import { badLine, type DumpRow } from './parse.ts';
import { type DumpTable, dumpTables, type NumberedTable } from './tables.ts';

export type Merged = 'new' | 'updated' | 'known' | 'orphaned';

type Fields = Readonly<Record<string, Value>>;

interface MergeOptions {
  /** Rows may be missing: what belongs to one is taken in as far as it makes sense. */
  readonly damaged: boolean;
  /** The profile of the export; null: several. */
  readonly profile: string | null;
  readonly hide: Hide;
}

const tables = new Map(dumpTables.map((table) => [table.name, table]));

/** When something was last learned of a file. */
const learned = (row: string): string =>
  `max(coalesce(${row}.checked_at, ''), coalesce(${row}.changed_at, ''), coalesce(${row}.heard_at, ''), ${row}.ordered_at)`;
const rankOfAction = (row: string): string =>
  `CASE ${row}.status WHEN 'done' THEN 2 WHEN 'failed' THEN 1 ELSE 0 END`;
const isPlaced = (attempt: string): string =>
  `(SELECT status = 'placed' FROM attempts WHERE attempts.id = ${attempt})`;

interface Conflict {
  /** What makes two rows the same. */
  readonly on: readonly string[];
  /** SQL: whether the row of the export (`excluded`) is the later word. Absent: the ledger's own row stays. */
  readonly isLater?: string;
  /** Columns that are set in another way than to the value of the export. */
  readonly set?: Readonly<Record<string, string>>;
}

const conflicts: Readonly<Record<string, Conflict>> = {
  orders: {
    on: ['profile', 'id'],
    isLater:
      "(orders.skus = '' AND excluded.skus <> '') OR (orders.names = '' AND excluded.names <> '') OR (orders.notes = '' AND excluded.notes <> '')",
    set: {
      skus: "coalesce(nullif(orders.skus, ''), excluded.skus)",
      names: "coalesce(nullif(orders.names, ''), excluded.names)",
      notes: "coalesce(nullif(orders.notes, ''), excluded.notes)",
      placed_at: 'min(orders.placed_at, excluded.placed_at)',
      hold: 'orders.hold',
    },
  },
  files: {
    on: ['profile', 'id'],
    isLater: `${learned('excluded')} > ${learned('files')} AND excluded.test <= files.test`,
    set: { seq: 'files.seq', completed: 'max(files.completed, excluded.completed)' },
  },
  downloads: { on: ['profile', 'file', 'ext', 'folder'], isLater: 'excluded.at > downloads.at' },
  actions: {
    on: ['event', 'kind', 'target'],
    isLater: `${rankOfAction('excluded')} > ${rankOfAction('actions')}`,
    set: { run: 'actions.run' },
  },
  claims: {
    on: ['profile', 'name'],
    isLater: `${isPlaced('excluded.attempt')} AND NOT ${isPlaced('claims.attempt')}`,
  },
  attempt_names: { on: ['name', 'attempt', 'position'] },
  event_files: { on: ['audiofile', 'event'] },
};

/** How much is known of an attempt. */
const rankOfStatus: Readonly<Record<string, number>> = { sending: 0, uncertain: 1, refused: 2, placed: 2 };

export class RowMerger {
  readonly #db: Store;
  readonly #numbers: ImportedNumbers;
  readonly #options: MergeOptions;
  /** Attempts that are new with this import: only they get their URLs. */
  #newAttempts = new Set<number>();

  constructor(db: Store, numbers: ImportedNumbers, options: MergeOptions) {
    this.#db = db;
    this.#numbers = numbers;
    this.#options = options;
  }

  /** Whether rows that make no sense are left out. */
  get takesDamage(): boolean {
    return this.#options.damaged;
  }

  async merge(row: DumpRow, line: number): Promise<Merged> {
    const table = tables.get(row.table) as DumpTable;
    const fields = await this.#resolve(table, row.fields, line);
    if (!fields) return 'orphaned';
    switch (table.name) {
      case 'attempts':
        return this.#mergeAttempt(fields);
      case 'events':
        return this.#mergeEvent(fields, row.fields.twin);
      case 'runs':
        return this.#mergeRun(fields);
      case 'attempt_urls':
        return this.#mergeUrl(fields);
      case 'claims':
        return this.#mergeClaim(fields);
      default:
        return this.#mergeByKey(table, fields);
    }
  }

  /** The fields with the numbers of this ledger; nothing where the row belongs to one that was lost. */
  async #resolve({ name, refs = {} }: DumpTable, given: Fields, line: number): Promise<Fields | undefined> {
    const fields = { ...given };
    for (const [column, of] of Object.entries(refs)) {
      const old = given[column];
      if (name === 'events') fields[column] = null;
      if (name === 'events' || typeof old !== 'number') continue;
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
    const now = await this.#insert('attempts', {
      ...{ id: old, status: 'uncertain', test: 0, started_at: timestamp() },
      profile: profile ?? this.#options.profile ?? 'default',
      detail: 'its record was lost with a damaged ledger',
    });
    this.#numbers.add('attempts', old, now);
    this.#newAttempts.add(now);
    return now;
  }

  async #mergeAttempt(fields: Fields): Promise<Merged> {
    const known = await this.#findAttempt(fields);
    if (known === undefined) {
      this.#newAttempts.add(await this.#add('attempts', fields));
      return 'new';
    }
    this.#numbers.add('attempts', Number(fields.id), known);
    return (await this.#endAttempt(known, fields)) ? 'updated' : 'known';
  }

  async #findAttempt({ token, profile, started_at }: Fields): Promise<number | undefined> {
    if (typeof token === 'string')
      return (await this.#db.get<{ id: number }>('SELECT id FROM attempts WHERE token = ?', token))?.id;
    return this.#firstFree(
      'attempts',
      'SELECT id FROM temp.earlier_attempts WHERE started_at = ? AND profile = ? ORDER BY id',
      started_at,
      profile,
    );
  }

  async #endAttempt(id: number, { status, ended_at, order_id, detail }: Fields): Promise<boolean> {
    const own = await this.#db.get<{ profile: string; status: string; ended_at: string | null }>(
      'SELECT profile, status, ended_at FROM attempts WHERE id = ?',
      id,
    );
    const byRank = (rankOfStatus[String(status)] ?? 0) - (rankOfStatus[own?.status ?? ''] ?? 0);
    const isLater = byRank > 0 || (byRank === 0 && String(ended_at ?? '') > (own?.ended_at ?? ''));
    if (!own || !isLater) return false;
    await this.#db.run(
      'UPDATE attempts SET status = ?, ended_at = ?, order_id = ?, detail = ? WHERE id = ?',
      ...[status, ended_at, order_id, detail].map((value) => value ?? null),
      id,
    );
    if (status === 'refused') await this.#claimsOf(own.profile).release(id);
    return true;
  }

  #claimsOf(profile: string): Claims {
    return new Claims({ db: this.#db, profile, hide: this.#options.hide });
  }

  /** Of an attempt that the ledger knew, it knows the URLs too. */
  async #mergeUrl(fields: Fields): Promise<Merged> {
    if (!this.#newAttempts.has(Number(fields.attempt))) return 'known';
    await this.#insert('attempt_urls', fields);
    return 'new';
  }

  async #mergeClaim(fields: Fields): Promise<Merged> {
    const attempt = await this.#db.get<{ status: string }>(
      'SELECT status FROM attempts WHERE id = ?',
      fields.attempt ?? null,
    );
    // The ledger knows that it was refused, the export did not yet.
    if (attempt?.status === 'refused') return 'known';
    return this.#mergeByKey(tables.get('claims') as DumpTable, fields);
  }

  async #mergeRun(fields: Fields): Promise<Merged> {
    const { started_at, profile, host, pid, id } = fields;
    const known = await this.#firstFree(
      'runs',
      'SELECT id FROM temp.earlier_runs WHERE started_at = ? AND profile = ? AND host = ? AND pid = ? ORDER BY id',
      started_at,
      profile,
      host,
      pid,
    );
    if (known === undefined) {
      await this.#add('runs', fields);
      return 'new';
    }
    this.#numbers.add('runs', Number(id), known);
    return 'known';
  }

  async #mergeEvent(fields: Fields, twin: Value | undefined): Promise<Merged> {
    const known = await this.#findEvent(fields);
    const event = known ?? (await this.#add('events', fields));
    if (known !== undefined) this.#numbers.add('events', Number(fields.id), known);
    if (typeof twin === 'number') this.#numbers.addTwin(event, twin);
    return known === undefined ? 'new' : 'known';
  }

  async #findEvent({
    arrival,
    received_at,
    profile,
    event,
    audiofile,
    body,
  }: Fields): Promise<number | undefined> {
    if (typeof arrival === 'string')
      return (await this.#db.get<{ id: number }>('SELECT id FROM events WHERE arrival = ?', arrival))?.id;
    return this.#firstFree(
      'events',
      `SELECT events.id FROM temp.earlier_events AS earlier CROSS JOIN main.events ON events.id = earlier.id
       WHERE earlier.received_at = ? AND earlier.profile = ? AND earlier.event = ? AND earlier.audiofile = ?
       AND events.body = ? ORDER BY events.id`,
      received_at,
      profile,
      event,
      audiofile,
      body,
    );
  }

  /** The first row that does not stand for another one of the export. */
  async #firstFree(
    of: NumberedTable,
    sql: string,
    ...values: Array<Value | undefined>
  ): Promise<number | undefined> {
    return this.#numbers.takeEarlier(of, sql, ...values.map((value) => value ?? null));
  }

  async #mergeByKey(table: DumpTable, fields: Fields): Promise<Merged> {
    const { on, isLater, set = {} } = conflicts[table.name] as Conflict;
    const isKnown = await this.#db.get(
      `SELECT 1 FROM ${table.name} WHERE ${on.map((column) => `${column} = ?`).join(' AND ')}`,
      ...on.map((column) => fields[column] ?? null),
    );
    const insert = await this.#withFreeNumber(table, fields);
    if (!isKnown) {
      await this.#insert(table.name, insert);
      return 'new';
    }
    if (!isLater) return 'known';
    const sets = Object.keys(fields)
      .filter((column) => !on.includes(column))
      .map((column) => `${column} = ${set[column] ?? `excluded.${column}`}`);
    const changed = await this.#db.run(
      `${insertInto(table.name, insert)} ON CONFLICT (${on.join(', ')}) DO UPDATE SET ${sets.join(', ')} WHERE ${isLater}`,
      ...Object.values(insert),
    );
    return changed ? 'updated' : 'known';
  }

  /** A number stays as it is where this ledger has not given it to another row. */
  async #withFreeNumber({ name, number }: DumpTable, fields: Fields): Promise<Fields> {
    if (number === undefined || fields[number] === undefined) return fields;
    const { [number]: wanted = null, ...rest } = fields;
    const isFree = !(await this.#db.get(`SELECT 1 FROM ${name} WHERE ${number} = ?`, wanted));
    return isFree ? fields : rest;
  }

  /** Adds a row that has a number. */
  async #add(name: NumberedTable, fields: Fields): Promise<number> {
    const now = await this.#insert(name, await this.#withFreeNumber(tables.get(name) as DumpTable, fields));
    this.#numbers.add(name, Number(fields.id), now);
    return now;
  }

  /** Gives the number of the new row, where the table has one. */
  async #insert(table: string, fields: Fields): Promise<number> {
    const { number } = tables.get(table) as DumpTable;
    const sql = insertInto(table, fields);
    if (number === undefined) return this.#db.run(sql, ...Object.values(fields));
    return Number(
      (await this.#db.get<{ n: number }>(`${sql} RETURNING ${number} AS n`, ...Object.values(fields)))?.n,
    );
  }
}

const insertInto = (table: string, fields: Fields): string => {
  const columns = Object.keys(fields);
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
};
