/** The states of files and invoices, and what each means for a wait. */
import type { Tone } from '../lib/text.ts';

export interface FileState {
  readonly name: string;
  /** One plain sentence. */
  readonly meaning: string;
  /** The file is finished: its transcript is there (delivered), or none will come (unfinished). */
  readonly end?: 'delivered' | 'unfinished';
  /** No transcription work has been done yet, so a refund may be granted. */
  readonly refundable?: true;
  readonly held?: true;
}

export const fileStates: readonly FileState[] = [
  { name: 'Audio Processing', meaning: 'The service is reading the audio.', refundable: true },
  { name: 'Awaiting Edit', meaning: 'The transcript waits for an editor.' },
  { name: 'Awaiting Final Approval', meaning: 'The transcript is edited and waits for its last check.' },
  { name: 'Billing Processing', meaning: 'The cost is being worked out and charged.' },
  { name: 'Checking Audio Quality', meaning: 'Someone is judging how hard the audio is to hear.' },
  { name: 'Delivered', meaning: 'The transcript is ready to download.', end: 'delivered' },
  { name: 'Editing to Word Count', meaning: 'The transcript is being cut to a number of words.' },
  {
    name: 'Error',
    meaning: 'The service gave up; no transcript will come, and a refund may be possible.',
    end: 'unfinished',
    refundable: true,
  },
  { name: 'On Hold', meaning: 'Work waits until the past-due balance of the account is paid.', held: true },
  {
    name: 'Order Cancelled',
    meaning: 'The order was cancelled; no transcript will come.',
    end: 'unfinished',
  },
  { name: 'Order Chargeable', meaning: 'The order is accepted and about to be charged.' },
  { name: 'Order Processing', meaning: 'The service is taking in the order.' },
  { name: 'Out for edit', meaning: 'An editor is working on the transcript.' },
  { name: 'Pre-Processing', meaning: 'The audio is being prepared for the transcriber.', refundable: true },
  { name: 'Processing', meaning: 'The service is working on the file.' },
  { name: 'Refunded', meaning: 'The price was paid back; no transcript will come.', end: 'unfinished' },
  {
    name: 'Technical Difficulty',
    meaning: 'The service met a problem with the audio and is looking into it.',
  },
  { name: 'Temporary Error', meaning: 'Something failed, and the service will try again.' },
  { name: 'Transcribing', meaning: 'A transcriber is typing out the audio.' },
];

export interface InvoiceState {
  readonly name: string;
  readonly meaning: string;
}

export const invoiceStates: readonly InvoiceState[] = [
  { name: 'CREATED', meaning: 'Items are still being added.' },
  { name: 'OPEN', meaning: 'Complete, not yet submitted for payment.' },
  { name: 'SUBMITTED', meaning: 'Submitted, not yet paid.' },
  { name: 'PAID', meaning: 'Paid.' },
];

/** Of a file that was ordered and not looked at yet; the service has no such state. */
export const orderedState = {
  name: 'ordered',
  meaning: 'The order was accepted; the service was not asked about the file yet.',
};

/** Undefined for a state that the API document does not list: waiting goes on. */
export const findFileState = (name: string): FileState | undefined =>
  fileStates.find((each) => each.name.toLowerCase() === name.trim().toLowerCase());

export const meaningOfStateName = (name: string): string => findFileState(name)?.meaning ?? '';

/** By what it means; undefined where work goes on. */
export function toneOfState(name: string): Tone | undefined {
  const state = findFileState(name);
  if (state?.end === 'delivered' || name === 'PAID') return 'good';
  if (state?.end === 'unfinished') return 'bad';
  return state?.held || /error|difficulty|hold/i.test(name) ? 'warn' : undefined;
}
