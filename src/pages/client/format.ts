/** Values as people read them. */
import { signal } from '@preact/signals';
import type { Amount } from './types.ts';

/** The time, to half a minute: relative times follow it. */
export const now = signal(Date.now());
/** The sandbox may be ahead of this clock. */
let ahead = 0;
const tick = (): void => {
  now.value = Date.now() + ahead;
};
setInterval(tick, 30_000);

export function setClock(at: string): void {
  ahead = (Date.parse(at) || Date.now()) - Date.now();
  tick();
}

const units: ReadonlyArray<readonly [string, number]> = [
  ['y', 31_557_600],
  ['mo', 2_629_800],
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
];

/** `3 min ago`, `in 2 d`, `just now`. */
export function relative(at: string, from: number): string {
  const seconds = (from - Date.parse(at)) / 1000;
  if (Number.isNaN(seconds)) return at;
  const [unit, size] = units.find(([, each]) => Math.abs(seconds) >= each) ?? ['', 1];
  if (!unit) return 'just now';
  const count = `${Math.floor(Math.abs(seconds) / size)} ${unit}`;
  return seconds < 0 ? `in ${count}` : `${count} ago`;
}

const exactForm = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const shortForm = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export const exact = (at: string): string => formatted(exactForm, at);
export const short = (at: string): string => formatted(shortForm, at);

const formatted = (form: Intl.DateTimeFormat, at: string): string =>
  Number.isNaN(Date.parse(at)) ? at : form.format(Date.parse(at));

/** `1:02:03` or `2:03`. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const end = `${String(minutes).padStart(hours ? 2 : 1, '0')}:${String(whole % 60).padStart(2, '0')}`;
  return hours ? `${hours}:${end}` : end;
}

export const minutesText = (minutes: Amount): string =>
  minutes === null || minutes === '' ? '' : clock(Math.round(Number(minutes) * 60));

/** `3 d 4 h`, for turnaround. */
export function spanText(seconds: number | null): string {
  if (seconds === null) return '';
  const [days, hours] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24];
  if (days) return hours ? `${days} d ${hours} h` : `${days} d`;
  return hours ? `${hours} h` : `${Math.max(1, Math.round(seconds / 60))} min`;
}

export const countText = (count: number): string => count.toLocaleString('en-US');

export const plural = (count: number, noun: string): string =>
  `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;

/** To the digit, with two decimals at least: `1,204.50 USD`. */
export function money(amount: Amount | undefined, currency?: string | null): string {
  if (amount === null || amount === undefined || amount === '') return '';
  const [, sign = '', whole = '', decimals = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(amount)) ?? [];
  if (!whole) return [amount, currency].filter(Boolean).join(' ');
  const grouped = BigInt(whole).toLocaleString('en-US');
  return [`${sign}${grouped}.${decimals.padEnd(2, '0')}`, currency].filter(Boolean).join(' ');
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)} kB` : `${(count / 1_000_000).toFixed(1)} MB`;
}

/** A word of a command line, in single quotes where a shell would change it. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** Each unit without its accent and in lower case, so that places stay the same. */
export const folded = (text: string): string => {
  const lower = text.toLowerCase();
  if (lower.length === text.length && /^[\0-\x7f]*$/.test(lower)) return lower;
  return Array.from({ length: text.length }, (_, at) => {
    const unit = text[at] ?? '';
    return (unit.normalize('NFD')[0] ?? unit).toLowerCase()[0] ?? unit;
  }).join('');
};

/** The words of a search that can be marked in a text: without `-word`, quotes and stars. */
export const searchWords = (query: string): string[] =>
  [...query.matchAll(/-?"[^"]*"?|\S+/g)]
    .map(([word]) => word)
    .filter((word) => !word.startsWith('-'))
    .map((word) => folded(word.replaceAll('"', '').replace(/\*$/, '')).trim())
    .filter(Boolean);

/** Where words occur in a text, in order and without overlaps. */
export function placesOf(text: string, words: readonly string[]): Array<readonly [number, number]> {
  const inside = folded(text);
  const found: Array<readonly [number, number]> = [];
  for (const word of words)
    for (let at = inside.indexOf(word); at >= 0; at = inside.indexOf(word, at + word.length))
      found.push([at, at + word.length]);
  found.sort(([a], [b]) => a - b);
  return found.filter(([start], at) => found.slice(0, at).every(([, end]) => end <= start));
}

/** A title for the browser's tab: short, and without characters that turn the direction of writing. */
export const plainTitle = (text: string): string =>
  text.replace(/[\u0000-\u001f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ' ').slice(0, 80);
