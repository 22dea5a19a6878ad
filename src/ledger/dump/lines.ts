/** The lines of an export: how they are written, and read. What is none is refused by the number of the line. */
import { isUtf8 } from 'node:buffer';
import { type StenoError, usage } from '../../lib/errors.ts';
import { dumpTables } from '../dump-tables.ts';
import type { ColumnInfo, Snapshot, Value } from '../stores/store.ts';
import type { Hide } from '../table.ts';

/** At the end of a field's name: its value is bytes, not text. */
const BASE64 = '_base64';

export const FORMAT = 1;

/** The first line of an export. */
export interface DumpHeader {
  readonly steno_ledger: number;
  /** Null: all profiles. */
  readonly profile: string | null;
}

export type Row = Readonly<Record<string, Value>>;

/** The type of each column, by table and column. */
export type ColumnTypes = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Rows at once: over a network each page costs some round trips, and events have bodies of up to a megabyte. */
export const pageRows = (table: string): number => (table === 'events' ? 20 : 200);

export const headerLine = (header: DumpHeader): string => `${JSON.stringify(header)}\n`;

/** By this line it is seen that nothing was cut off. */
export const endLine = (rows: number): string => `${JSON.stringify({ rows })}\n`;

/** Text is text; other bytes are base64, under a name that says so. */
export function rowLine(table: string, row: Row, hide: Hide): string {
  const fields: Record<string, unknown> = { table };
  for (const [column, value] of Object.entries(row)) {
    if (value instanceof Uint8Array && !isUtf8(value))
      fields[column + BASE64] = Buffer.from(value).toString('base64');
    else if (value instanceof Uint8Array) fields[column] = hide(Buffer.from(value).toString());
    else fields[column] = typeof value === 'string' ? hide(value) : value;
  }
  return `${JSON.stringify(fields)}\n`;
}

export const NOTHING_IMPORTED = 'nothing was imported';

export const badLine = (line: number, what: string): StenoError =>
  usage(`line ${line}: ${what}`, NOTHING_IMPORTED);

/** A row of a table, by its columns. */
export interface DumpRow {
  readonly table: string;
  readonly fields: Row;
}

export function parseHeader(bytes: Buffer): DumpHeader {
  const fields = objectIn(bytes);
  const format = fields?.steno_ledger;
  if (!fields || !Number.isSafeInteger(format))
    throw usage(
      'this is not an export of a ledger',
      `make one with: steno ledger export -o ledger.jsonl; ${NOTHING_IMPORTED}`,
    );
  if (format !== FORMAT)
    throw usage(
      `line 1: this export has format ${format}, but this steno reads only format ${FORMAT}`,
      `import it with the version of steno that wrote it; ${NOTHING_IMPORTED}`,
    );
  const { profile = null } = fields;
  if (profile !== null && typeof profile !== 'string') throw badLine(1, "'profile' is not a name");
  return { steno_ledger: FORMAT, profile };
}

/** The number of rows, where this is the last line. */
export function parseEnd(bytes: Buffer): number | undefined {
  const fields = objectIn(bytes);
  return fields && !('table' in fields) && Number.isSafeInteger(fields.rows)
    ? Number(fields.rows)
    : undefined;
}

export class RowParser {
  readonly types: ColumnTypes;
  readonly #hide: Hide;

  private constructor(types: ColumnTypes, hide: Hide) {
    this.types = types;
    this.#hide = hide;
  }

  /** For rows of a ledger with these columns. */
  static async of(ledger: Pick<Snapshot, 'columns'>, hide: Hide): Promise<RowParser> {
    const types = new Map<string, ReadonlyMap<string, string>>();
    for (const { name, number, own, eventColumn } of dumpTables) {
      const columns = (await ledger.columns(name)).filter(
        (column) => column.name !== number && column.name !== own,
      );
      const typeOf = (column: ColumnInfo): string => (column.name === eventColumn ? 'TEXT' : column.type);
      types.set(name, new Map(columns.map((column) => [column.name, typeOf(column)])));
    }
    return new RowParser(types, hide);
  }

  parse(bytes: Buffer, line: number): DumpRow {
    const { table, ...fields } = objectIn(bytes) ?? {};
    if (table === undefined) throw badLine(line, 'this is not a row of an export');
    const types = this.types.get(String(table));
    if (typeof table !== 'string' || !types)
      throw badLine(line, `this steno does not know the table '${String(table)}'`);
    const read: Record<string, Value> = {};
    for (const [name, given] of Object.entries(fields)) {
      const isBytes = name.endsWith(BASE64) && !types.has(name);
      const column = isBytes ? name.slice(0, -BASE64.length) : name;
      const type = types.get(column);
      if (type === undefined)
        throw badLine(line, `this steno does not know the column '${name}' of '${table}'`);
      const value = this.#read(given, isBytes ? 'BASE64' : type);
      if (value === undefined) throw badLine(line, `'${name}' has a value that its column can't hold`);
      read[column] = value;
    }
    return { table, fields: read };
  }

  /** Undefined if it is of another type. */
  #read(given: unknown, type: string): Value | undefined {
    if (given === null) return null;
    if (type === 'INTEGER') return Number.isSafeInteger(given) ? Number(given) : undefined;
    if (type === 'DOUBLE PRECISION') return typeof given === 'number' ? given : undefined;
    if (typeof given !== 'string') return undefined;
    if (type === 'BASE64')
      return /^[A-Za-z0-9+/]*={0,2}$/.test(given) ? Buffer.from(given, 'base64') : undefined;
    const text = this.#hide(given);
    return type === 'BLOB' ? Buffer.from(text) : text;
  }
}

function objectIn(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
