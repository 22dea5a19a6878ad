import type { AudioFile } from '../api/files.ts';
import { plural } from '../lib/text.ts';
import { amountWithCurrency } from './amounts.ts';

/** No title hides the rest of a question. */
const MAX_TITLE_LENGTH = 80;

/** More would fill the screen. */
const MAX_NAMED = 5;

/** `7 files (audiofile 1001, 1002, 1003, 1004, 1005 and 2 more)` */
export function filesInQuestion(ids: readonly string[]): string {
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
  return `${plural(ids.length, 'file')} (audiofile ${ids.slice(0, MAX_NAMED).join(', ')}${more})`;
}

/** `audiofile 1001, “A talk”, Transcribing, 12.50 USD`: what a person must know before it is changed. */
export function fileInQuestion({ id, title, state, total }: AudioFile, currency: string): string {
  const name = [...title];
  const shown = name.length > MAX_TITLE_LENGTH ? `${name.slice(0, MAX_TITLE_LENGTH).join('')}…` : title;
  return [`audiofile ${id}`, shown && `“${shown}”`, state, total && amountWithCurrency(total, currency)]
    .filter(Boolean)
    .join(', ');
}
