/** Values as people read them. */
import { signal } from '@preact/signals';
import { type Mark, marksOf, parseQuery, partsOfLine } from '../../flows/search/query.ts';
import { wordsOf } from '../../flows/search/words.ts';
import { relativeTime } from '../../lib/relative-time.ts';
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

export const relative = (at: string): string =>
  Math.abs(now.value - Date.parse(at)) < 60_000 ? 'just now' : relativeTime(at, now.value);

const orAsItIs = (at: string, write: (date: Date) => string): string =>
  Number.isNaN(Date.parse(at)) ? at : write(new Date(at));

/** Without Intl, whose first use takes a tenth of the time to the first page. */
export const exactTime = (at: string): string => orAsItIs(at, String);

export const shortTime = (at: string): string =>
  orAsItIs(at, (date) => date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' }));

export const shortDate = (at: string): string =>
  orAsItIs(at, (date) => date.toLocaleDateString(undefined, { dateStyle: 'medium' }));

/** `1:02:03` or `2:03`. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const end = `${String(minutes).padStart(hours ? 2 : 1, '0')}:${String(whole % 60).padStart(2, '0')}`;
  return hours ? `${hours}:${end}` : end;
}

export const minutesText = (minutes: Amount): string =>
  minutes === null || minutes === '' ? '' : clock(Math.round(Number(minutes) * 60));

/** `1,204`. */
export const countText = (count: number | string): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');

export const counted = (count: number, noun: string): string =>
  `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;

/** To the digit, with two decimals at least: `1,204.50 USD`. */
export function money(amount: Amount | undefined, currency?: string | null): string {
  const [whole = '', decimals = ''] = String(amount ?? '').split('.');
  const isNumber = /^-?\d+$/.test(whole) && /^\d*$/.test(decimals);
  const text = isNumber ? `${countText(whole)}.${decimals.padEnd(2, '0')}` : amount;
  return text ? [text, currency].filter(Boolean).join(' ') : '';
}

/** Finds the marks of a query in a text, as `steno search` does; nothing in a text that does not match. */
export function markerOf(query: string): (text: string) => readonly Mark[] {
  try {
    const parsed = parseQuery(partsOfLine(query));
    return (text) => marksOf(parsed, wordsOf(text)) ?? [];
  } catch {
    return () => [];
  }
}
