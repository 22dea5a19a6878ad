import type { Json } from './json.ts';

/** What a column holds, which gives its colour and alignment on a terminal. */
export type CellKind = 'text' | 'id' | 'state' | 'amount' | 'time' | 'link';

export interface Column {
  readonly name: string;
  readonly kind?: CellKind;
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
  /** On a terminal, do not cut cells to fit. */
  readonly whole?: boolean;
}
