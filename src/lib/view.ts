import type { Json } from './json.ts';

/**
 * What a column holds, which gives its form, colour and alignment on a terminal. `bytes` and `minutes` are plain numbers
 * that a person reads as `2.3 kB` and `1 h 04 min`.
 */
export type CellKind = 'text' | 'id' | 'state' | 'amount' | 'time' | 'link' | 'bytes' | 'minutes';

export const rightAligned: ReadonlySet<CellKind | undefined> = new Set<CellKind>([
  'amount',
  'bytes',
  'minutes',
]);

/** What --columns takes for every column there is. */
export const ALL_COLUMNS = 'all';

export interface Column {
  /** In CSV and JSON. */
  readonly name: string;
  /** What people read above the column, where it is not the name. */
  readonly header?: string;
  readonly kind?: CellKind;
  /**
   * Where the terminal is narrow, the column with the lowest importance is left out first; without one, the last. Ids
   * and states stay unless they have one.
   */
  readonly importance?: number;
  /** The width of a text or link that is enough where the terminal is narrow. */
  readonly enough?: number;
  /** Never cut, as ids, states, amounts and times are not. */
  readonly uncut?: boolean;
  /** Not a part of the table: shown in CSV, and with --columns. */
  readonly more?: boolean;
}

export interface Rows {
  readonly columns: readonly Column[];
  readonly rows: ReadonlyArray<readonly string[]>;
}

/** A result in every form of output. */
export interface View extends Rows {
  readonly json: Json;
  /** The lines of --quiet: what a script needs next. */
  readonly quiet: readonly string[];
  /** On a terminal, show each row as a block with one field a line. */
  readonly asRecord?: boolean;
  /** Rows are a name and a value; on a terminal, a value that is longer than its line goes on below it. */
  readonly asPairs?: boolean;
  /** In Markdown, each row is a task; its last cell says what to do. */
  readonly asTasks?: boolean;
}
