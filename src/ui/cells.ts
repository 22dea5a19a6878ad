/** A value as a person reads it in a table, and with its exact form in a page about one thing. */
import { lengthText, sizeText } from '../lib/quantities.ts';
import type { CellKind } from '../lib/view.ts';
import { relativeTime } from './time.ts';

export function cellText(value: string, kind: CellKind | undefined, now: number): string {
  switch (kind) {
    case 'time':
      return relativeTime(value, now);
    case 'bytes':
      return sizeText(value);
    case 'minutes':
      return lengthText(value);
    default:
      return value;
  }
}

const exactUnits: Partial<Record<CellKind, string>> = { bytes: ' bytes', minutes: ' minutes' };

/** `3h ago (2026-01-31T09:30:00Z)`, `2.3 kB (2345 bytes)` */
export function detailText(value: string, kind: CellKind | undefined, now: number): string {
  const text = cellText(value, kind, now);
  if (text === value) return value;
  const exact = value + (exactUnits[kind ?? 'text'] ?? '');
  return isExact(text, value) ? text : `${text} (${exact})`;
}

/** `512 bytes` and `12 min` say it all. */
const isExact = (text: string, value: string): boolean =>
  /^\d+ (?:bytes?|min)$/.test(text) && text.startsWith(`${value} `);
