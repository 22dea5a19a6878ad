/** Passes warnings on, but the same one at most once a minute: a failing ledger is noticed many times a second. */
import type { Ledger } from '../ledger/ledger.ts';
import { monotonicMs } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';

const REPEAT_AFTER_MS = 60_000;
/** A text may hold an id that a stranger sent, so there may be any number of them. */
const MAX_REMEMBERED = 100;

export class RepeatedWarnings {
  readonly #warn: (text: string, hint?: string) => void;
  readonly #warnedAtMs = new Map<string, number>();

  constructor(warn: (text: string, hint?: string) => void) {
    this.#warn = warn;
  }

  warn(text: string, hint?: string): void {
    const now = monotonicMs();
    const before = this.#warnedAtMs.get(text);
    if (before !== undefined && now - before < REPEAT_AFTER_MS) return;
    if (this.#warnedAtMs.size >= MAX_REMEMBERED) this.#warnedAtMs.clear();
    this.#warnedAtMs.set(text, now);
    this.#warn(text, hint);
  }
}

export const waitingText = (why: string): string =>
  `events are kept in the spool, and wait for the ledger: ${why}`;

interface LedgerWatchOptions {
  readonly ledger: Ledger;
  readonly onWarning: (text: string) => void;
  readonly onNote: (text: string) => void;
}

/** A database that can't be used is said once, and once that it can again, though every part of a session meets that. */
export class LedgerWatch {
  readonly #options: LedgerWatchOptions;
  #isDown = false;

  constructor(options: LedgerWatchOptions) {
    this.#options = options;
  }

  /** Whether the error was that, and so is said. */
  noteFailure(error: unknown): boolean {
    const { ledger, onWarning } = this.#options;
    if (!ledger.isDown(error)) return false;
    if (!this.#isDown) onWarning(waitingText(errorMessage(error)));
    this.#isDown = true;
    return true;
  }

  noteSuccess(): void {
    if (this.#isDown) this.#options.onNote(BACK_TEXT);
    this.#isDown = false;
  }
}

export const BACK_TEXT = 'the ledger takes events again';

/** For work that is done again and again. A ledger that is gone is said once, though all of it meets that. */
export class LoopWarnings {
  readonly #warnings: RepeatedWarnings;
  readonly #watch: LedgerWatch;
  readonly #ledger: Ledger;
  /** Why the ledger is not used, as it was said. */
  #said: string | undefined;

  constructor(warnings: RepeatedWarnings, watch: LedgerWatch, ledger: Ledger) {
    this.#warnings = warnings;
    this.#watch = watch;
    this.#ledger = ledger;
  }

  warn(what: string, error: unknown): void {
    if (this.#watch.noteFailure(error)) return;
    const isGone = !this.#ledger.isInPlace;
    const why = errorMessage(error);
    if (!isGone) this.#warnings.warn(`${what}: ${why}`);
    else if (this.#said !== why) this.#warnings.warn(waitingText(why));
    this.#said = isGone ? why : undefined;
  }

  noteSuccess(): void {
    if (this.#said !== undefined && this.#ledger.isInPlace) this.#said = undefined;
  }
}
