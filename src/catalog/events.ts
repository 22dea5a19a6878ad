/** The events of the API document. Every delivery also carries `webhook_version`. */
import type { Tone } from '../lib/text.ts';

export interface EventType {
  readonly name: string;
  readonly sentWhen: string;
  /** What it means to the customer: work is done, someone should look, something failed, or it is only said. */
  readonly tone: Tone;
  /** The service sends a test of it on request. */
  readonly testable: boolean;
}

const event = (name: string, tone: Tone, sentWhen: string, testable = true): EventType => ({
  name,
  sentWhen,
  tone,
  testable,
});

export const eventTypes: readonly EventType[] = [
  event('TRANSCRIPT_COMPLETE', 'good', 'transcription of a file is complete'),
  event('DUPLICATE_FILE', 'warn', 'a file that was ordered before is detected', false),
  event('REFUND_ISSUED', 'info', 'money is refunded to the prepay balance'),
  event('CC_AUTH_FAILURE', 'bad', "authorization of the account's card failed", false),
  event('DIFFICULT_AUDIO', 'warn', 'in some cases, a file is found to be difficult'),
  event('ORDER_ON_HOLD', 'warn', 'an order is accepted but held instead of started'),
];

export const testableEvents: readonly string[] = eventTypes
  .filter((each) => each.testable)
  .map((each) => each.name);

export const toneOf = (event: string): Tone | undefined =>
  eventTypes.find(({ name }) => name === event)?.tone;

export const meaningOfEvent = (name: string): string =>
  eventTypes.find((each) => each.name === name)?.sentWhen ?? '';
