/** The states of files and invoices, and what each means for a wait. */
import type { Tone } from '../lib/text.ts';

export interface FileState {
  readonly name: string;
  /** The file is finished: its transcript is there (delivered), or none will come (unfinished). */
  readonly end?: 'delivered' | 'unfinished';
  /** No transcription work has been done yet, so a refund may be granted. */
  readonly refundable?: true;
  readonly held?: true;
}

export const fileStates: readonly FileState[] = [
  { name: 'Audio Processing', refundable: true },
  { name: 'Awaiting Edit' },
  { name: 'Awaiting Final Approval' },
  { name: 'Billing Processing' },
  { name: 'Checking Audio Quality' },
  { name: 'Delivered', end: 'delivered' },
  { name: 'Editing to Word Count' },
  { name: 'Error', end: 'unfinished', refundable: true },
  { name: 'On Hold', held: true },
  { name: 'Order Cancelled', end: 'unfinished' },
  { name: 'Order Chargeable' },
  { name: 'Order Processing' },
  { name: 'Out for edit' },
  { name: 'Pre-Processing', refundable: true },
  { name: 'Processing' },
  { name: 'Refunded', end: 'unfinished' },
  { name: 'Technical Difficulty' },
  { name: 'Temporary Error' },
  { name: 'Transcribing' },
];

export interface InvoiceState {
  readonly name: string;
  readonly meaning: string;
}

export const invoiceStates: readonly InvoiceState[] = [
  { name: 'CREATED', meaning: 'The invoice does not yet have all items added.' },
  { name: 'OPEN', meaning: 'The invoice is complete but not yet sent for payment.' },
  { name: 'SUBMITTED', meaning: 'createtime is set and paidtime is not yet set. Waiting for payment.' },
  { name: 'PAID', meaning: 'createtime and paidtime are both set.' },
];

/** What a state means for a wait. */
export function meaningOfState({ end, held }: FileState): string {
  if (end === 'delivered') return 'transcript available';
  if (end) return 'no transcript';
  return held ? 'on hold until released' : 'in progress';
}

/** Undefined for a state that the API document does not list: waiting goes on. */
export const findFileState = (name: string): FileState | undefined =>
  fileStates.find((each) => each.name.toLowerCase() === name.trim().toLowerCase());

export function meaningOfStateName(name: string): string {
  const state = findFileState(name);
  return state ? meaningOfState(state) : '';
}

/** By what it means; undefined where work goes on. */
export function toneOfState(name: string): Tone | undefined {
  const state = findFileState(name);
  if (state?.end === 'delivered' || name === 'PAID') return 'good';
  if (state?.end === 'unfinished') return 'bad';
  return state?.held || /error|difficulty|hold/i.test(name) ? 'warn' : undefined;
}
