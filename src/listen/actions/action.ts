/** What can be done about an event, seen from the queue that does it. */
import type { ReceivedEvent } from '../event.ts';
import type { Duty } from '../recorder.ts';

/** `again`: it did not work but may; `down`: the target is not there, so that others need not be tried either. */
export interface Outcome {
  readonly end: 'done' | 'failed' | 'again' | 'down';
  /** What came of it, in a few words. */
  readonly text: string;
  /** The files that it left on disk. */
  readonly saved?: readonly string[];
}

/** The target is as the ledger knows it, and as people are told. */
export interface Action extends Duty {
  readonly kind: 'forward' | 'exec' | 'download';
  /** How many at once. */
  readonly jobs: number;
  /** It may not be done twice without a word: each try is written down before it begins. */
  readonly marksTries?: boolean;
  /** What was given up is tried again by the next listener. */
  readonly triesAgain: boolean;
  run(event: ReceivedEvent, attempt: number, signal: AbortSignal): Promise<Outcome>;
  close?(): Promise<void>;
}
