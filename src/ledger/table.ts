import { nowMs } from '../lib/clock.ts';
import { accountName } from '../lib/names.ts';
import type { Outbox } from './outbox.ts';
import type { Store, Value } from './store.ts';

export type Hide = (text: string) => string;

export interface TableContext {
  readonly db: Store;
  /** A table shows and changes the rows of one profile. */
  readonly profile: string;
  /** Takes secrets out of a text: what comes from outside passes through it before it is kept. */
  readonly hide: Hide;
  /** Where outcomes of orders go that the database can't take. */
  readonly outbox?: Outbox | undefined;
}

const IDS_PER_QUERY = 10_000;

/** The base of every table of the ledger. */
export abstract class Table {
  protected readonly db: Store;
  protected readonly profile: string;
  protected readonly hide: Hide;
  protected readonly outbox: Outbox | undefined;

  constructor({ db, profile, hide, outbox }: TableContext) {
    this.db = db;
    this.profile = accountName(profile);
    this.hide = hide;
    this.outbox = outbox;
  }

  /** The same table within a transaction. */
  within(db: Store): this {
    const { profile, hide, outbox } = this;
    return new (this.constructor as new (context: TableContext) => this)({ db, profile, hide, outbox });
  }

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
    const select = `SELECT seq, id FROM files WHERE ${where}`;
    for await (const page of this.filePages<{ seq: number; id: string }>(select, ...values))
      for (const { id } of page) found.push(id);
    return found;
  }

  /** What a query finds of any number of files, oldest first. As one list, 200,000 of them would take 60 MB. */
  protected async *filePages<Row extends { readonly seq: number }>(
    select: string,
    ...values: Value[]
  ): AsyncGenerator<Row[]> {
    for (let after = 0; ; ) {
      const page = await this.db.all<Row>(
        `${select} AND seq > ? ORDER BY seq LIMIT ${IDS_PER_QUERY}`,
        ...values,
        after,
      );
      yield page;
      if (page.length < IDS_PER_QUERY) return;
      after = page.at(-1)?.seq ?? after;
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
