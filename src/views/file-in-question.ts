import type { AudioFile } from '../api/files.ts';
import { amountWithCurrency } from './amounts.ts';

/** No title hides the rest of a question. */
const MAX_TITLE_LENGTH = 80;

/** `audiofile 1001, “A talk”, Transcribing, 12.50 USD`: what a person must know before it is changed. */
export function fileInQuestion({ id, title, state, total }: AudioFile, currency: string): string {
  const name = [...title];
  const shown = name.length > MAX_TITLE_LENGTH ? `${name.slice(0, MAX_TITLE_LENGTH).join('')}…` : title;
  return [`audiofile ${id}`, shown && `“${shown}”`, state, total && amountWithCurrency(total, currency)]
    .filter(Boolean)
    .join(', ');
}
