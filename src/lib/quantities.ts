/** Sizes and lengths as people read them; off a terminal they stay plain numbers. */

const sizes = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** `512 bytes`, `2.3 kB`, `41 MB`; a text that is no whole number is returned as it is. */
export function sizeText(bytes: string): string {
  if (!/^\d{1,18}$/.test(bytes)) return bytes;
  let value = Number(bytes);
  let unit = 0;
  // What rounds to 1000 is one of the next unit.
  while (value >= (unit === 0 ? 1000 : 999.5) && unit < sizes.length - 1) {
    value /= 1000;
    unit += 1;
  }
  if (unit === 0) return value === 1 ? '1 byte' : `${value} bytes`;
  const rounded = value < 9.95 ? value.toFixed(1) : String(Math.round(value));
  return `${rounded} ${sizes[unit]}`;
}

/** The same of a number. */
export const bytesText = (bytes: number): string => sizeText(String(Math.round(bytes)));

/** Ten minutes and more are told without seconds. */
const WITH_SECONDS_BELOW = 600;

/** `1 h 04 min`, `12 min`, `4 min 05 s`; a text that is no number of minutes is returned as it is. */
export function lengthText(minutes: string): string {
  if (!/^\d{1,9}(?:\.\d{1,20})?$/.test(minutes)) return minutes;
  const seconds = Math.round(Number(minutes) * 60);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < WITH_SECONDS_BELOW && seconds % 60)
    return `${Math.floor(seconds / 60)} min ${twoDigits(seconds % 60)} s`;
  const whole = Math.round(seconds / 60);
  return whole < 60 ? `${whole} min` : `${Math.floor(whole / 60)} h ${twoDigits(whole % 60)} min`;
}

const twoDigits = (number: number): string => String(number).padStart(2, '0');
