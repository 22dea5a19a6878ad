const steps: ReadonlyArray<readonly [string, number]> = [
  ['y', 365 * 86400e3],
  ['d', 86400e3],
  ['h', 3600e3],
  ['m', 60e3],
  ['s', 1e3],
];

/** `3h ago` or `in 2d`; a text that is not a time is shown as it is. */
export function relativeTime(text: string, now: number): string {
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) return text;
  const distance = Math.abs(now - time);
  const step = steps.find(([, size]) => distance >= size);
  if (!step) return 'just now';
  const amount = `${Math.floor(distance / step[1])}${step[0]}`;
  return time > now ? `in ${amount}` : `${amount} ago`;
}
