const units: ReadonlyArray<readonly [string, number]> = [
  ['y', 365 * 86400e3],
  ['d', 86400e3],
  ['h', 3600e3],
  ['m', 60e3],
  ['s', 1e3],
];

/** `3h ago` or `in 2d`; a text that is not a time is returned as it is. */
export function relativeTime(text: string, now: number): string {
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) return text;
  const distance = Math.abs(now - time);
  const unit = units.find(([, size]) => distance >= size);
  if (!unit) return 'just now';
  const amount = `${Math.floor(distance / unit[1])}${unit[0]}`;
  return time > now ? `in ${amount}` : `${amount} ago`;
}
