/** The last of these rows up to which their bodies together take no more than this; the first one in any case. */
export function lastWithin<Row extends { readonly bytes: number }>(
  rows: readonly Row[],
  maxBytes: number,
): Row | undefined {
  let [last] = rows;
  let total = 0;
  for (const row of rows) {
    total += Number(row.bytes);
    if (total > maxBytes) break;
    last = row;
  }
  return last;
}
