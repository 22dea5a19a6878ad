/** What can be done about an event, as its queue sees it. */
import type { MarkedActionKey } from '../../ledger/actions.ts';
import type { ReceivedEvent } from '../event.ts';
import type { ActionRule } from '../recorder.ts';

export interface Outcome {
  /** `retry`: it failed but may work later; `down`: the target can't be reached, so other events need not be tried. */
  readonly end: 'done' | 'failed' | 'retry' | 'down';
  /** In a few words, for the ledger and the screen. */
  readonly text: string;
  /** The files that it saved. */
  readonly saved?: readonly string[];
}

/** `target` is what the ledger and people are told; it holds no secret. */
export interface Action extends ActionRule, MarkedActionKey {
  readonly kind: 'forward' | 'exec' | 'download';
  /** How many run at once. */
  readonly jobs: number;
  /** Each try is written down before it begins, so that a second one is known to be one. */
  readonly recordsTries?: boolean;
  /** The next listener tries again what this one gave up. */
  readonly retriedByNext: boolean;
  run(event: ReceivedEvent, attempt: number, signal: AbortSignal): Promise<Outcome>;
  close?(): Promise<void>;
}
