import { testableEvents } from '../catalog/events.ts';
import type { Database } from '../lib/sqlite.ts';
import { Refusal } from './refusal.ts';
import { SAMPLE } from './samples.ts';
import type { Subject } from './steps.ts';
import type { ServiceContext } from './store.ts';
import { readWebhook } from './webhook.ts';

const WEBHOOK_VERSION = '1';

export type Fields = Readonly<Record<string, string>>;

/** Adds an event that is sent when the step begins. */
export function addEvent(db: Database, subject: Subject, step: number, name: string, fields: Fields): void {
  db.run(
    'INSERT INTO events (subject, step, form) VALUES (?, ?, ?)',
    subject,
    step,
    encodeForm(name, fields),
  );
}

/** Adds a test delivery, due at once. */
export function addTestEvent({ db, now }: ServiceContext, name: string): void {
  if (!testableEvents.includes(name)) {
    throw new Refusal(400, `'${name}' can not be tested: the type is one of ${testableEvents.join(', ')}.`);
  }
  if (readWebhook(db) === null)
    throw new Refusal(400, 'No webhook is registered: there is nowhere to send a test.');
  const form = encodeForm(name, testFields[name] ?? {});
  db.run("INSERT INTO events (subject, step, form, due) VALUES ('test', 0, ?, ?)", form, now);
}

function encodeForm(name: string, fields: Fields): string {
  return new URLSearchParams({ webhook_version: WEBHOOK_VERSION, event: name, ...fields }).toString();
}

const { audiofile, order, link } = SAMPLE;
const testFields: Readonly<Record<string, Fields>> = {
  TRANSCRIPT_COMPLETE: { audiofile, order, originallink: link },
  DIFFICULT_AUDIO: { audiofile, order },
  REFUND_ISSUED: { amount: '1.00', audiofile, order, original_transaction: '70001', transaction: '70002' },
  ORDER_ON_HOLD: { order, audiofiles: '100,101', hold: 'billing', skus: 'TRANS14' },
};
