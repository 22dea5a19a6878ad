/** What the tables of the ledger have in common. */
import { cutSignatures } from '../lib/audio-identity.ts';
import { nowMs } from '../lib/clock.ts';
import { accountName } from '../lib/names.ts';
import type { Value } from '../lib/sqlite-driver.ts';
import type { Outbox } from './outbox.ts';
import type { Store } from './stores/store.ts';

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
  readonly outbox?: Outbox | undefined;
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

  /**
   * What is in these columns, for any number of files, oldest first: in pages, because 200,000 of them would take 60 MB,
   * and each column of a page as one JSON text, because the driver takes longer to make a row than to find it.
   */
  protected async *filePages<Page extends readonly unknown[][]>(
    columns: readonly string[],
    from: string,
    ...values: Value[]
  ): AsyncGenerator<Page> {
    const lists = columns.map((name) => `CAST(json_group_array(${name}) AS TEXT) AS ${name}`);
    for (let after = 0; ; ) {
      const found = await this.db.get<{ rows: number; last: number } & Readonly<Record<string, string>>>(
        `SELECT count(*) AS rows, max(seq) AS last, ${lists.join(', ')} FROM (
           SELECT seq, ${columns.join(', ')} FROM ${from} AND seq > ? ORDER BY seq LIMIT ${FILES_PER_QUERY}) AS page`,
        ...values,
        after,
      );
      if (!found?.rows) return;
      yield columns.map((name) => JSON.parse(found[name] as string)) as unknown as Page;
      if (found.rows < FILES_PER_QUERY) return;
      after = found.last;
    }
  }

  /** The ids that a query finds. */
  protected async ids(sql: string, ...values: Value[]): Promise<string[]> {
    return (await this.db.all<{ id: string }>(sql, ...values)).map(({ id }) => id);
  }
}

/** SQL for the time by the clock of the database: on a shared ledger, those of other machines may be wrong. */
export const NOW = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

export const timestamp = (): string => new Date(nowMs()).toISOString();
