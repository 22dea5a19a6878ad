/** The SQLite that runs here: Node's own where there is one, a package on Node 20. Both have the same interface. */

export type Value = null | number | bigint | string | Uint8Array;

export interface Statement {
  run(...values: Value[]): { changes: number | bigint };
  get(...values: Value[]): unknown;
  all(...values: Value[]): unknown[];
}

export interface SqliteConnection {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  function(name: string, options: { varargs: boolean }, work: (...values: Value[]) => Value): void;
  close(): void;
}

export type Driver = new (path: string, options?: { readOnly: boolean }) => SqliteConnection;

interface Sqlite {
  readonly DatabaseSync: Driver;
}

export async function loadDriver(): Promise<Driver> {
  const { DatabaseSync } = loadBuiltIn() ?? ((await import('@photostructure/sqlite')) as unknown as Sqlite);
  return DatabaseSync;
}

/** Without Node 22's warning that its SQLite is experimental: a user can't act on it. */
function loadBuiltIn(): Sqlite | undefined {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule('node:sqlite') as Sqlite | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
