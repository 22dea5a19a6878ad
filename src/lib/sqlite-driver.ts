/** The SQLite that runs here: Node's own where there is one, a package on Node 20. Both have the same interface. */
export type Value = null | number | bigint | string | Uint8Array;

export interface Statement {
  run(...values: Value[]): { changes: number | bigint };
  get(...values: Value[]): unknown;
  all(...values: Value[]): unknown[];
}

export interface Connection {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export type Driver = new (path: string, options?: { readOnly: boolean }) => Connection;

export async function loadDriver(): Promise<Driver> {
  const builtIn = loadBuiltIn();
  if (builtIn) return builtIn.DatabaseSync;
  return (await import('@photostructure/sqlite')).DatabaseSync as unknown as Driver;
}

/** Without Node 22's warning that its SQLite is experimental: a user can't act on it. */
function loadBuiltIn(): { DatabaseSync: Driver } | undefined {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule('node:sqlite') as { DatabaseSync: Driver } | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
