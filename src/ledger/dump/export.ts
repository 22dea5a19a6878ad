/** Writes a ledger as JSON lines, page by page: however large it is, few of its rows are in memory. */
import { type DumpTable, dumpTables } from '../dump-tables.ts';
import type { Ledger } from '../ledger.ts';
import type { Snapshot, Value } from '../stores/store.ts';
import type { Hide } from '../table.ts';
import { endLine, FORMAT, headerLine, pageRows, type Row, rowLine } from './lines.ts';

const MAX = Number.MAX_SAFE_INTEGER;

/** The ledger as JSON lines, several at a time: of one profile, or of all. */
export async function* exportedLines(ledger: Ledger, allProfiles = false): AsyncGenerator<string> {
  const snapshot = await ledger.db.snapshot();
  try {
    yield* exportLines(snapshot, allProfiles ? undefined : ledger.profile, ledger.hide);
  } finally {
    await snapshot.end();
  }
}

async function* exportLines(
  snapshot: Snapshot,
  profile: string | undefined,
  hide: Hide,
): AsyncGenerator<string> {
  yield headerLine({ steno_ledger: FORMAT, profile: profile ?? null });
  let rows = 0;
  for (const table of dumpTables) {
    for await (const page of pagesOf(snapshot, table, profile)) {
      rows += page.length;
      yield page.map((row) => rowLine(table.name, row, hide)).join('');
    }
  }
  yield endLine(rows);
}

/** SQL: only what is worked out anew at an import may be larger than a number keeps. */
const withinNumbers = (column: string): string =>
  `CASE WHEN ${column} > ${MAX} THEN ${MAX} WHEN ${column} < -${MAX} THEN -${MAX} ELSE ${column} END AS ${column}`;

async function* pagesOf(
  snapshot: Snapshot,
  { name, key, number, own: ofListeners, eventColumn, ofProfile }: DumpTable,
  profile: string | undefined,
): AsyncGenerator<Row[]> {
  const columns = (await snapshot.columns(name)).map(({ name: column, type }) =>
    // Quoted: `user` is a function of Postgres.
    type === 'INTEGER' ? withinNumbers(`"${column}"`) : `"${column}"`,
  );
  const arrival = `, (SELECT other.arrival FROM events AS other WHERE other.id = ${name}.${eventColumn}) AS arrival_of`;
  const [size, order] = [pageRows(name), number === undefined ? key : [number]];
  const after = `(${order.join(', ')}) > (${order.map(() => '?').join(', ')})`;
  const profiles = profile === undefined ? [] : [profile];
  for (let last: Value[] = []; ; ) {
    const conditions = [...(profiles.length ? [ofProfile] : []), ...(last.length ? [after] : [])];
    const where = conditions.length ? `WHERE ${conditions.join(' AND ')}` : '';
    const page = await snapshot.all<Row>(
      `SELECT ${columns.join(', ')} ${eventColumn ? arrival : ''} FROM ${name} ${where}
       ORDER BY ${order.join(', ')} LIMIT ${size}`,
      ...[...profiles, ...last],
    );
    yield page.map(({ arrival_of: event = null, ...row }) => {
      const own = Object.entries(row).filter(([column]) => column !== number && column !== ofListeners);
      return { ...Object.fromEntries(own), ...(eventColumn && { [eventColumn]: event }) };
    });
    const end = page.at(-1);
    if (!end || page.length < size) return;
    last = order.map((column) => end[column] as Value);
  }
}
