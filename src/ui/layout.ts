/** Which columns of a table a terminal has room for, and how wide each is. */

export const GAP_WIDTH = 2;

export interface ColumnSize {
  /** Of the widest cell, header included. */
  readonly natural: number;
  /** What it should have before a less important column gets any room. */
  readonly wanted: number;
  /** With less, it is left out. */
  readonly least: number;
  /** The column with the lowest is left out first; one with infinity never is. */
  readonly importance: number;
}

/** The width of each column, undefined for one that is left out; undefined if not even those fit that must stay. */
export function columnWidths(
  sizes: readonly ColumnSize[],
  width: number,
): Array<number | undefined> | undefined {
  const widths: Array<number | undefined> = sizes.map(() => undefined);
  let left = width + GAP_WIDTH;
  const byImportance = sizes
    .map((size, at) => ({ size, at }))
    .sort((one, other) => compare(other.size.importance, one.size.importance) || one.at - other.at);
  for (const { size, at } of byImportance) {
    const given = roomFor(size, left - GAP_WIDTH);
    if (given !== undefined) {
      widths[at] = given;
      left -= given + GAP_WIDTH;
    } else if (size.importance === Number.POSITIVE_INFINITY) return undefined;
  }
  return widths.every((each) => each === undefined) ? undefined : share(widths, sizes, left);
}

const compare = (one: number, other: number): number => (one === other ? 0 : one - other);

function roomFor({ wanted, least }: ColumnSize, room: number): number | undefined {
  if (wanted <= room) return wanted;
  return least <= room ? room : undefined;
}

/** Gives out what is left: each gets the same share, and no more than it can use. */
function share(
  widths: Array<number | undefined>,
  sizes: readonly ColumnSize[],
  room: number,
): Array<number | undefined> {
  const missing = (at: number): number =>
    (sizes[at]?.natural ?? 0) - (widths[at] ?? Number.POSITIVE_INFINITY);
  let open = widths.flatMap((_, at) => (missing(at) > 0 ? [at] : []));
  for (let left = room; left > 0 && open.length > 0; ) {
    const each = Math.max(1, Math.floor(left / open.length));
    for (const at of open) {
      const more = Math.min(each, missing(at), left);
      widths[at] = (widths[at] ?? 0) + more;
      left -= more;
    }
    open = open.filter((at) => missing(at) > 0);
  }
  return widths;
}
