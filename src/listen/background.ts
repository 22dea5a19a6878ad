/**
 * Timers, and work that nothing waits for: an error in either would end the process with a stack trace and leave the
 * webhook behind. Here it goes to `onError` instead. No other file of the receiver sets a timer.
 */

import type { Ledger } from '../ledger/ledger.ts';
import { errorMessage } from '../lib/errors.ts';
import { monotonicMs, sleep } from '../lib/time.ts';

export type OnError = (error: unknown) => void;
type Work = () => void | Promise<void>;

/** A timer can't be set for longer. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export function runInBackground(work: Work, onError: OnError): void {
  void run(work).catch(onError);
}

/** Runs the work once, later; returns what cancels it. */
export function startTimer(delayMs: number, work: Work, onError: OnError): () => void {
  const timer = setTimeout(() => runInBackground(work, onError), Math.min(delayMs, MAX_DELAY_MS));
  return () => clearTimeout(timer);
}

/** Runs the work at once and then after every pause, until the signal fires; the next run waits for the last one. */
export async function repeat(pauseMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work();
    // It rejects when the signal fires, which ends the loop.
    await sleep(pauseMs, signal).catch(() => {});
  }
}

/** Makes a rejection of what is thrown. */
async function run(work: Work): Promise<void> {
  await work();
}

/** Resolves when the signal fires. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

const REPEAT_AFTER_MS = 60_000;
/** A text may hold an id that anyone could send, so there may be any number of them. */
const MAX_REMEMBERED = 100;

/** Passes warnings on, but the same one at most once a minute: a failing ledger is noticed many times a second. */
export function limitRepeats(
  warn: (text: string, hint?: string) => void,
): (text: string, hint?: string) => void {
  const warnedAtMs = new Map<string, number>();
  return (text, hint) => {
    const now = monotonicMs();
    const before = warnedAtMs.get(text);
    if (before !== undefined && now - before < REPEAT_AFTER_MS) return;
    if (warnedAtMs.size >= MAX_REMEMBERED) warnedAtMs.clear();
    warnedAtMs.set(text, now);
    warn(text, hint);
  };
}

interface LedgerWatchOptions {
  readonly ledger: Ledger;
  readonly onWarning: (text: string) => void;
  readonly onNote: (text: string) => void;
}

/** A ledger that can't be used is said once, and once that it can again, though every part of a session meets that. */
export class LedgerWatch {
  readonly #options: LedgerWatchOptions;
  #isDown = false;
  /** It takes no deliveries for another reason, of which no other part tells. */
  #refuses = false;

  constructor(options: LedgerWatchOptions) {
    this.#options = options;
  }

  /** Whether the error is about the database itself, and so is said. */
  noteFailure(error: unknown): boolean {
    if (!this.#options.ledger.db.isDown(error)) return false;
    if (!this.#isDown) this.#sayWaiting(error);
    this.#isDown = true;
    return true;
  }

  /** Something was committed. */
  noteSuccess(): void {
    if (this.#isDown) this.#sayBack();
    this.#isDown = false;
  }

  /** Deliveries have to wait. */
  noteRefused(error: unknown): void {
    this.#refuses = !this.noteFailure(error);
    if (this.#refuses) this.#sayWaiting(error);
  }

  /** Deliveries go to the ledger again. */
  noteTaken(): void {
    if (this.#refuses) this.#sayBack();
    this.#refuses = false;
  }

  #sayWaiting(error: unknown): void {
    this.#options.onWarning(`events are saved until the ledger is available: ${errorMessage(error)}`);
  }

  #sayBack(): void {
    this.#options.onNote('the ledger is available again');
  }
}

/** The rest is left to the next tick: what else a loop has to do, such as for other actions, must not wait for it. */
const MAX_MS = 4_000;
/** For deliveries that came in during a slice, and for the processor of the machine. */
const PAUSE_MS = 25;

/**
 * Works on very many rows, a few at a time, so that deliveries are answered meanwhile: calls `work`, which does a slice and
 * tells whether there is more, until there is none or its time is over.
 */
export async function inSlices(signal: AbortSignal, work: () => Promise<boolean>): Promise<void> {
  const end = monotonicMs() + MAX_MS;
  while ((await work()) && monotonicMs() < end && !signal.aborted)
    // It rejects when the signal fires, which ends the loop.
    await sleep(PAUSE_MS, signal).catch(() => {});
}
