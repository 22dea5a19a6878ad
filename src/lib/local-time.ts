/** By the clock on the user's wall. */
export function localTime(iso: string): { readonly day: string; readonly time: string } {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return { day: '', time: iso };
  const two = (part: number): string => String(part).padStart(2, '0');
  return {
    day: `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
    time: [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':'),
  };
}
