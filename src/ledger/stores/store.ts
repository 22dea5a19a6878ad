/** What the tables ask of a database. A store is one connection; what runs within a transaction gets a store of its own. */
import { StenoError } from '../../lib/errors.ts';
import type { Database, Value } from '../../lib/sqlite.ts';

export type { Value };

/** Of the database of a shared ledger, or of the way there. */
export class DatabaseError extends StenoError {}

/** The connection broke while a COMMIT was on its way: it may or may not have come through. */
export class CommitUnknown extends DatabaseError {}

/** The way out where a shared ledger will never answer again. */
export const GONE_HINT = 'if it is lost for good: steno ledger copy --to local --without-shared';

/** Tables whose rows have a number that the ledger gives: another ledger may give them another one. */
export type NumberedTable = 'runs' | 'purchases' | 'events' | 'files';

/** The column of that number. */
export const numberColumn = (table: NumberedTable): 'id' | 'seq' | 'number' =>
  ({ files: 'seq', purchases: 'number', runs: 'id', events: 'id' })[table] as 'id' | 'seq' | 'number';

/** One statement of a batch. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
  /** How many rows it must change; if it changes another number, the whole batch is undone. */
  readonly expects?: number;
  /** Its rows are the result of the batch. */
  readonly isResult?: boolean;
}

/** The statement whose rows a batch gives. */
export const resultOf = (statements: readonly Statement[]): Statement | undefined =>
  statements.find(({ isResult }) => isResult) ?? statements.at(-1);

/** What a transaction does, with the store that is in it. */
export type Work<Result> = (store: Store) => Promise<Result>;

export interface Store {
  /** Other machines use it too: only its own clock and its own rules tell who is alive. */
  readonly isShared: boolean;
  /** By how much its clock is ahead of this machine's, as well as it is known. */
  readonly clockAheadMs: number;
  /** Runs one statement; gives the number of rows that it changed. */
  run(sql: string, ...values: Value[]): Promise<number>;
  get<Row>(sql: string, ...values: Value[]): Promise<Row | undefined>;
  all<Row>(sql: string, ...values: Value[]): Promise<Row[]>;
  /** Does all of the work or none of it. Within a transaction it is a part of that. */
  transaction<Result>(work: Work<Result>): Promise<Result>;
  /** A transaction that is on disk when this resolves: a power cut does not undo it. */
  durable<Result>(work: Work<Result>): Promise<Result>;
  /**
   * A durable transaction whose statements need nothing of each other's results: over a network it takes one round trip.
   * Gives the rows of the statement that is the result, else of the last one; nothing where one did not change as many rows as it must.
   */
  batch<Row>(statements: readonly Statement[]): Promise<Row[] | undefined>;
  /** Waits for other transactions that hold this lock, and holds it until the end of its own; for use within one. */
  lock(name: string): Promise<void>;
  /** Numbers for new rows of a table; for use within a transaction. */
  newIds(table: NumberedTable, count: number): Promise<number[]>;
}

/** A column of a table; its type as SQLite names it. */
export interface ColumnInfo {
  readonly name: string;
  readonly type: string;
}

/** One moment of a ledger, whatever other processes write. */
export interface Snapshot extends Pick<Store, 'get' | 'all'> {
  columns(table: string): Promise<ColumnInfo[]>;
  end(): Promise<void>;
}

/** An account of a shared ledger. */
export interface LedgerAccount {
  readonly name: string;
  /** Whether somebody chose the name; else it is that of the profile. */
  readonly isChosen: boolean;
  /** Of the service; undefined where none is set. */
  readonly baseUrl: string | undefined;
}

export interface AccountRow {
  readonly name: string;
  readonly base_url: string;
}

export interface KnownAccounts {
  readonly account: LedgerAccount;
  /** The account itself, and others of the same service. */
  readonly accounts: readonly AccountRow[];
  /** Where its tables are in the database. */
  readonly schema: string;
}

/** The store of a whole ledger. */
export interface LedgerStore extends Store {
  /** A number that changes when another process may have written. */
  version(): Promise<number>;
  /** False where nothing can be written now: its file was deleted or replaced, or there is no connection. */
  readonly isInPlace: boolean;
  /** Throws where its file is not in place. */
  checkInPlace(): void;
  /** Opens what was put in its place, or connects. Where there is nothing, nothing is made: that throws. */
  reopen(): Promise<void>;
  /** Whether the error is about the database itself, which no work can use now. */
  isDown(error: unknown): boolean;
  /** Tells a shared ledger from every other, wherever it is moved; empty where it was not reached, and of a local one. */
  readonly identity: string;
  /** What a shared ledger said of accounts when it was reached. */
  readonly known: KnownAccounts | undefined;
  /** The same store for work that can do without it: waits for others only some seconds in all. */
  withShortLockWait(signal: AbortSignal): LedgerStore;
  /**
   * A connection of its own for a listener: every commit is durable, and a lock is an error at once. Where it takes a
   * network, it is made with the first use.
   */
  openSecondConnection(): Promise<LedgerStore>;
  /** From now on a database that is silent for this long is lost, and none is connected to any more. */
  endWithin(silenceMs: number): void;
  snapshot(): Promise<Snapshot>;
  /** For the care of a file, with no transaction under way; absent where the ledger is none. */
  readonly file?: LedgerFile;
  close(): Promise<void>;
}

/** A ledger in a file of this machine. */
export interface LedgerFile {
  readonly path: string;
  /** Does the work while no transaction of this process is under way. */
  alone<Result>(work: (database: Database) => Result): Promise<Result>;
}
