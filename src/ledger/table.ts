import type { Database, Value } from '../lib/sqlite.ts';

export type Hide = (text: string) => string;

/** What the tables ask of a database: another store has to offer this and no more. */
export type TableDatabase = Pick<Database, 'run' | 'get' | 'all' | 'transaction' | 'durable'>;

export interface TableContext {
  readonly db: TableDatabase;
  /** A table shows and changes the rows of one profile. */
  readonly profile: string;
  /** Takes secrets out of a text: what comes from outside passes through it before it is kept. */
  readonly hide: Hide;
}

/** The base of every table of the ledger. */
export abstract class Table {
  protected readonly db: TableDatabase;
  protected readonly profile: string;
  protected readonly hide: Hide;

  constructor({ db, profile, hide }: TableContext) {
    this.db = db;
    this.profile = profile;
    this.hide = hide;
  }

  /** The ids that a query finds. */
  protected ids(sql: string, ...values: Value[]): string[] {
    return this.db.all<{ id: string }>(sql, ...values).map(({ id }) => id);
  }
}

export const timestamp = (): string => new Date().toISOString();
