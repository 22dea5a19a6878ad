/** A row that is measured once, and comes to a figure with a limit of its own: memory, calls, growth. */
export interface WeighedRow {
  /** By which it is asked for: `npm run bench -- --only <key>`. */
  readonly key: string;
  readonly what: string;
  /** The most that is allowed: more fails the run. */
  readonly must: number;
  /** What it should come to: more is told. */
  readonly aim?: number;
  /** What the figure counts; `times` is left out in tables. */
  readonly unit: string;
  /** The table in which it is shown, if it is not about memory. */
  readonly table?: string;
  weigh(): Promise<Found>;
}

export type Found = { readonly value: number; readonly note?: string } | { readonly skipped: string };

export interface Weighed extends Omit<WeighedRow, 'weigh'> {
  readonly value?: number;
  readonly note?: string;
  /** Why it can't be measured. */
  readonly skipped?: string;
  /** What went wrong, where it did not work at all. */
  readonly broken?: string;
}
