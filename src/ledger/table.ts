/** What the tables of the ledger have in common. */

import { accountName } from '../lib/names.ts';
import { cutSignatures } from '../lib/signatures.ts';
import { withoutNul } from '../lib/text.ts';
import { nowMs } from '../lib/time.ts';
import type { Store, Value } from './stores/store.ts';
import type { Waiting } from './waiting.ts';

export type Hide = (text: string) => string;

/**
 * What a table works on: a ledger, or a transaction of one. Within a transaction only tables of the context that the
 * work is given may be used: those of the ledger wait for its end.
 */
export interface TableContext {
  readonly db: Store;
  /** A table shows and changes the rows of one profile. */
  readonly profile: string;
  /** Takes secrets out of a text. */
  readonly hide: Hide;
  /** Where outcomes of orders go that the database can't take. */
  readonly waiting?: Waiting | undefined;
}

const FILES_PER_QUERY = 2_000;

/** The base of every table of the ledger. */
export abstract class Table {
  protected readonly context: TableContext;
  protected readonly db: Store;
  protected readonly profile: string;

  constructor(context: TableContext) {
    this.context = context;
    this.db = context.db;
    this.profile = accountName(context.profile);
  }

  /** The same table within a transaction. */
  within(db: Store): this {
    return new (this.constructor as new (context: TableContext) => this)({ ...this.context, db });
  }

  /** Takes secrets out of a text: what comes from outside passes through it before it is kept. */
  protected readonly hide = (text: string): string => cutSignatures(this.context.hide(text));

  /** The time by the clock of the ledger, as well as it is known. */
  protected timestamp(): string {
    return this.byItsClock(timestamp());
  }

  /** A time of this machine's clock by that of the ledger: rather too early than too late. */
  protected byItsClock(at: string): string {
    const { clockAheadMs } = this.db;
    return clockAheadMs === 0 ? at : new Date(Date.parse(at) + clockAheadMs).toISOString();
  }

  /** The ids of any number of files that match, oldest first. */
  protected async fileIds(where: string, ...values: Value[]): Promise<string[]> {
    const found: string[] = [];
    const pages = this.filePages<[ids: string[]]>(['id'], `files WHERE ${where}`, ...values);
    for await (const [ids] of pages) for (const id of ids) found.push(id);
    return found;
  }

  /** What is in these columns, for any number of files, oldest first: in pages, because 200,000 of them would take 60 MB. */
  protected async *filePages<Page extends readonly unknown[][]>(
    columns: readonly string[],
    from: string,
    ...values: Value[]
  ): AsyncGenerator<Page> {
    for (let after = 0; ; ) {
      const [seqs, ...page] = await this.columns<[seqs: number[], ...Page]>(
        ['seq', ...columns],
        `SELECT seq, ${columns.map((name) => `"${name}"`).join(', ')} FROM ${from} AND seq > ? ORDER BY seq LIMIT ${FILES_PER_QUERY}`,
        ...values,
        after,
      );
      const last = seqs.at(-1);
      if (last === undefined) return;
      yield page as unknown as Page;
      if (seqs.length < FILES_PER_QUERY) return;
      after = last;
    }
  }

  /** What a query finds, each column read as one JSON text: the driver takes longer to make a row than to find it. */
  protected async columns<Lists extends readonly unknown[][]>(
    names: readonly string[],
    query: string,
    ...values: Value[]
  ): Promise<Lists> {
    const lists = names.map((name) => `CAST(json_group_array("${name}") AS TEXT) AS "${name}"`);
    const sql = `SELECT ${lists.join(', ')} FROM (${query}) AS found`;
    const found = await this.db.get<Readonly<Record<string, string | null>>>(sql, ...values);
    return names.map((name) => JSON.parse(found?.[name] ?? '[]')) as unknown as Lists;
  }

  /** The ids that a query finds. */
  protected async ids(sql: string, ...values: Value[]): Promise<string[]> {
    return (await this.db.all<{ id: string }>(sql, ...values)).map(({ id }) => id);
  }
}

/** SQL for the time by the clock of the database: on a shared ledger, those of other machines may be wrong. */
export const NOW = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

/** The conditions of a query, all of which must hold, and their values. */
export class Conditions {
  readonly #parts: string[] = [];
  readonly values: Value[] = [];

  add(condition: string, ...values: readonly Value[]): this {
    this.#parts.push(condition);
    this.values.push(...values);
    return this;
  }

  /**
   * A text has a word in one of its spellings; the case of ASCII makes no difference. `other` makes SQL of one more
   * question about it.
   */
  addWord(text: string, forms: readonly string[], other?: (like: (text: string) => string) => string): this {
    const patterns = [...new Set(forms)].map((form) => `%${form.replace(/[\\%_]/g, '\\$&')}%`);
    const like = (searched: string): string =>
      `(${patterns.map(() => `${searched} COLLATE NOCASE LIKE ? ESCAPE '\\'`).join(' OR ')})`;
    if (!other) return this.add(like(text), ...patterns);
    return this.add(`(${like(text)} OR ${other(like)})`, ...patterns, ...patterns);
  }

  get where(): string {
    return this.#parts.join(' AND ');
  }
}

/** SQL knows the case of ASCII alone: other words are looked for as they are mostly written. */
export function spellings(word: string): string[] {
  const lower = word.toLowerCase();
  if (!/[^\0-\x7f]/.test(word)) return [lower];
  return [lower, word, lower.slice(0, 1).toUpperCase() + lower.slice(1), word.toUpperCase()];
}

/** Rows by a text of each, in their order. */
export function groupBy<Row>(rows: readonly Row[], textOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(textOf(row));
    if (group) group.push(row);
    else groups.set(textOf(row), [row]);
  }
  return groups;
}

/** Rows of lists that have a column each. */
export const rowsOf = <Row>(names: ReadonlyArray<keyof Row & string>, lists: readonly unknown[][]): Row[] =>
  (lists[0] ?? []).map((_, at) => {
    const row: Record<string, unknown> = {};
    for (let n = 0; n < names.length; n += 1) row[names[n] as string] = lists[n]?.[at];
    return row as Row;
  });

export const timestamp = (): string => new Date(nowMs()).toISOString();

/** How JSON writes a NUL and half of a surrogate pair. */
const maybeUnkept = /\\u0000|\\ud[89a-f]/;

/**
 * Texts as a parameter of json_each. No database keeps a NUL or half of a surrogate pair in a text: in a list they are
 * what they become in a column, or Postgres would refuse the list and SQLite find nothing.
 */
export function jsonList(values: readonly string[]): string {
  const list = JSON.stringify(values);
  return maybeUnkept.test(list) ? JSON.stringify(values.map(keptText)) : list;
}

/** A text as it is kept; nearly all texts are kept as they are. */
export const keptText = (text: string): string =>
  /[\0\ud800-\udfff]/.test(text) ? Buffer.from(withoutNul(text)).toString() : text;
