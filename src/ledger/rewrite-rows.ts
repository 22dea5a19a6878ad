/** Writes anew what is kept, page by page, so that a large ledger takes little memory. */
import type { Database, Value } from '../lib/sqlite.ts';

const PAGE_ROWS = 500;

interface Rows {
  readonly table: string;
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** The SQL that finds, by a column, rows worth reading; absent: all. */
  readonly where?: (column: string) => string;
}

/** Writes every row of which `clean` changes a column; gives their number. Of two that become one, one stays. */
export function rewriteRows<Content extends string | Uint8Array>(
  database: Database,
  { table, key, columns, where = () => '1' }: Rows,
  clean: (content: Content) => Content,
): number {
  const list = key.join(', ');
  const places = key.map(() => '?').join(', ');
  const condition = `(${columns.map(where).join(' OR ')})`;
  const update = `UPDATE OR REPLACE ${table} SET ${columns.map((column) => `${column} = ?`).join(', ')} WHERE (${list}) = (${places})`;
  let changed = 0;
  for (let last: Value[] = []; ; ) {
    const after = last.length ? `(${list}) > (${places}) AND` : '';
    const page = database.all<Record<string, Value>>(
      `SELECT ${[...new Set([...key, ...columns])].join(', ')} FROM ${table} WHERE ${after} ${condition} ORDER BY ${list} LIMIT ${PAGE_ROWS}`,
      ...last,
    );
    for (const row of page) {
      const contents = columns.map((column) => row[column] as Content | null);
      const cleaned = contents.map((content) => (content === null ? null : clean(content)));
      last = key.map((name) => row[name] as Value);
      if (cleaned.some((content, at) => content !== contents[at]))
        changed += database.run(update, ...cleaned, ...last);
    }
    if (page.length < PAGE_ROWS) return changed;
  }
}
