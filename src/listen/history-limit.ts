/** `--keep`: removes events as they get older than that, a few at a time, so that receiving goes on meanwhile. */
import type { Ledger } from '../ledger/ledger.ts';
import { Pruning } from '../ledger/prune.ts';
import { monotonicMs, nowMs } from '../lib/clock.ts';
import { sleep } from '../lib/sleep.ts';
import { isLocked } from '../lib/sqlite-errors.ts';

const MAX_INTERVAL_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Some milliseconds for each transaction, and a pause after it. */
const EVENTS_AT_ONCE = 100;
const PAUSE_MS = 10;
/** Fewer free pages than this (4 MB) are left for the events to come. */
const SPARE_PAGES = 1000;

/** What is to be called from time to time; does nothing where events are kept for good. */
export function historyLimit(
  keepMs: number | undefined,
  ledger: Ledger,
  signal: AbortSignal,
): () => Promise<void> {
  if (keepMs === undefined) return async () => {};
  const limit = new HistoryLimit({ ledger, keepMs, signal });
  return () => limit.tick();
}

interface HistoryLimitOptions {
  readonly ledger: Ledger;
  readonly keepMs: number;
  readonly signal: AbortSignal;
}

class HistoryLimit {
  readonly #options: HistoryLimitOptions;
  #prunedAt = Number.NEGATIVE_INFINITY;
  #runsPrunedAt = Number.NEGATIVE_INFINITY;

  constructor(options: HistoryLimitOptions) {
    this.#options = options;
  }

  /** At the start, and then every tenth of the time that is kept, or every hour. */
  async tick(): Promise<void> {
    const now = monotonicMs();
    if (now - this.#prunedAt < Math.min(this.#options.keepMs / 10, MAX_INTERVAL_MS)) return;
    this.#prunedAt = now;
    await this.#removeEvents();
    // Few listeners end in a day.
    if (now - this.#runsPrunedAt < DAY_MS) return;
    this.#runsPrunedAt = now;
    await this.#removeRuns();
  }

  get #before(): string {
    return new Date(nowMs() - this.#options.keepMs).toISOString();
  }

  async #removeEvents(): Promise<void> {
    const { ledger, signal } = this.#options;
    const pruning = new Pruning(ledger);
    await this.#unlessLocked(async () => {
      const steps = pruning.removeEvents(this.#before, { whole: false, atOnce: EVENTS_AT_ONCE });
      for await (const _ of steps) await sleep(PAUSE_MS, signal);
      for await (const _ of pruning.shrink(SPARE_PAGES)) await sleep(PAUSE_MS, signal);
    });
  }

  async #removeRuns(): Promise<void> {
    const pruning = new Pruning(this.#options.ledger);
    await this.#unlessLocked(async () => void (await pruning.removeRuns(this.#before)));
  }

  /** What another process keeps from being done now is done the next time. */
  async #unlessLocked(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isLocked(error)) throw error;
    }
  }
}
