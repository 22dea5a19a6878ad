/** Passes warnings on, but the same one at most once a minute: a failing ledger is noticed many times a second. */
import { monotonicMs } from '../lib/clock.ts';

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
