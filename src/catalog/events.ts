/** The events of the API document. Every delivery also carries `webhook_version`. */
import type { Tone } from '../lib/text.ts';

export interface EventType {
  readonly name: string;
  readonly sentWhen: string;
  readonly fields: readonly string[];
  /** What it means to the customer: work is done, someone should look, something failed, or it is only said. */
  readonly tone: Tone;
  /** The service sends a test of it on request. */
  readonly testable: boolean;
}

export const eventTypes: readonly EventType[] = [
  {
    name: 'TRANSCRIPT_COMPLETE',
    sentWhen: 'transcription of a file is complete',
    fields: ['audiofile', 'order', 'event', 'originallink'],
    tone: 'good',
    testable: true,
  },
  {
    name: 'DUPLICATE_FILE',
    sentWhen: 'a file that was ordered before is detected',
    fields: ['audiofile', 'order', 'event', 'original_audiofile'],
    tone: 'warn',
    testable: false,
  },
  {
    name: 'REFUND_ISSUED',
    sentWhen: 'money is refunded to the prepay balance',
    fields: ['amount', 'audiofile', 'order', 'event', 'original_transaction', 'transaction'],
    tone: 'info',
    testable: true,
  },
  {
    name: 'CC_AUTH_FAILURE',
    sentWhen: "authorization of the account's card failed",
    fields: ['order', 'event'],
    tone: 'bad',
    testable: false,
  },
  {
    name: 'DIFFICULT_AUDIO',
    sentWhen: 'in some cases, a file is found to be difficult',
    fields: ['audiofile', 'order', 'event'],
    tone: 'warn',
    testable: true,
  },
  {
    name: 'ORDER_ON_HOLD',
    sentWhen: 'an order is accepted but held instead of started',
    fields: ['order', 'audiofiles', 'hold', 'skus', 'event'],
    tone: 'warn',
    testable: true,
  },
];

export const testableEvents: readonly string[] = eventTypes
  .filter((each) => each.testable)
  .map((each) => each.name);

export const toneOf = (event: string): Tone | undefined =>
  eventTypes.find(({ name }) => name === event)?.tone;

export const meaningOfEvent = (name: string): string =>
  eventTypes.find((each) => each.name === name)?.sentWhen ?? '';
