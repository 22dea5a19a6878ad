import type { Json } from './json.ts';

/** What a column holds, for colour and alignment on a terminal; elsewhere every value is exact. */
export type CellKind = 'text' | 'id' | 'state' | 'amount' | 'time' | 'link';

export interface Column {
  readonly name: string;
  readonly kind?: CellKind;
}

export interface Rows {
  readonly columns: readonly Column[];
  readonly rows: ReadonlyArray<readonly string[]>;
}

/** A result in all the forms that a user may ask for. */
export interface View extends Rows {
  readonly json: Json;
  /** With --quiet: what a script needs next, a line each. */
  readonly quiet: readonly string[];
  /** On a terminal: a row is a block of lines rather than a line. */
  readonly asRecord?: boolean;
  /** On a terminal too: nothing is cut to fit. */
  readonly whole?: boolean;
}
