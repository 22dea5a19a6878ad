/** Asks the service about open files, to find events that never came: their one delivery may have gone wrong. */
import type { Transport } from '../api/http/transport.ts';
import type { Outcome } from '../flows/bulk.ts';
import { refreshFiles } from '../flows/files/refresh.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { monotonicMs } from '../lib/clock.ts';
import { ServiceCheck } from './actions/service-check.ts';
import { Duty } from './duty.ts';
import type { ReceivedEvent } from './event.ts';
import type { Inbox } from './inbox.ts';
import type { SessionRun } from './session-run.ts';

/** Files without news are asked about once in this many ticks. */
const TICKS_BETWEEN_ALL = 60;
/** Files with news are asked about sooner, but at most once in this many ticks. */
const TICKS_BETWEEN_ASKS = 3;
/** An event may come a little later than the state that it is about. */
const GRACE_TICKS = 1;
const MAX_ASKED = 200;
const JOBS = 4;
/** A file that can't be asked about is left out for a while, twice as long after each failure. */
const MAX_LEFT_OUT = 1_000;

interface LookoutOptions {
  /** Absent where no account is set up: then nothing is asked. */
  readonly service: Transport | undefined;
  readonly ledger: Ledger;
  readonly inbox: Inbox;
  readonly run: SessionRun;
  readonly tickMs: number;
  readonly signal: AbortSignal;
  readonly onFound: (event: ReceivedEvent) => void;
}

interface FailingFile {
  readonly failures: number;
  /** Until then it is left out. */
  readonly untilMs: number;
}

export class Lookout {
  readonly #options: LookoutOptions;
  readonly #check: ServiceCheck | undefined;
  /** Several listeners would each ask about all files. */
  readonly #duty: Duty;
  readonly #failing = new Map<string, FailingFile>();
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #askedAllAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: LookoutOptions) {
    this.#options = options;
    this.#duty = new Duty({
      ...options,
      commits: options.inbox.commits,
      name: `ask about files of ${options.ledger.accountName}`,
    });
    this.#check = options.service && new ServiceCheck(options.service);
  }

  async tick(): Promise<void> {
    const { inbox } = this.#options;
    await inbox.commits.add((tables) => tables.expectedEvents.expectAll());
    await this.#ask();
    await this.#addFound();
  }

  async #ask(): Promise<void> {
    const { service, tickMs } = this.#options;
    const pauseMs = TICKS_BETWEEN_ASKS * tickMs;
    if (!service || monotonicMs() - this.#askedAtMs < pauseMs || !(await this.#duty.take())) return;
    try {
      await this.#askAbout(service, pauseMs);
    } catch (error) {
      // Another listener may be able to.
      await this.#duty.leave();
      throw error;
    }
  }

  async #askAbout(service: Transport, pauseMs: number): Promise<void> {
    const { ledger, tickMs } = this.#options;
    const now = monotonicMs();
    const asksAll = now - this.#askedAllAtMs >= TICKS_BETWEEN_ALL * tickMs;
    const leftOut = [...this.#failing].flatMap(([id, { untilMs }]) => (untilMs > now ? [id] : []));
    const due = await ledger.files.dueForRefresh(asksAll ? isoBefore(pauseMs) : '', MAX_ASKED, leftOut);
    if (asksAll) this.#askedAllAtMs = now;
    const [first, ...others] = due;
    if (first === undefined) return;
    this.#askedAtMs = now;
    // One call finds out whether the service can be reached; hundreds would each wait for it.
    for (const ids of [[first], others])
      await this.#noteOutcomes(await refreshFiles(service, ledger, ids, { jobs: JOBS }), pauseMs);
  }

  /** An error about one file says nothing of the others, unless the service says the same of all. */
  async #noteOutcomes(outcomes: ReadonlyArray<Outcome<unknown>>, pauseMs: number): Promise<void> {
    for (const { what, error } of outcomes) {
      const trouble = error && (await this.#check?.troubleBehind(error));
      if (trouble) throw trouble;
      if (error) this.#leaveOut(what, pauseMs);
      else this.#failing.delete(what);
    }
  }

  #leaveOut(id: string, pauseMs: number): void {
    const failures = (this.#failing.get(id)?.failures ?? 0) + 1;
    const untilMs = monotonicMs() + Math.min(TICKS_BETWEEN_ALL, 2 ** failures) * pauseMs;
    if (this.#failing.size >= MAX_LEFT_OUT) this.#failing.clear();
    this.#failing.set(id, { failures, untilMs });
  }

  /** Makes an event of each file that is delivered and whose own event did not come. */
  async #addFound(): Promise<void> {
    const { ledger, inbox, tickMs, signal, onFound } = this.#options;
    const missed = await ledger.expectedEvents.missed(isoBefore(GRACE_TICKS * tickMs));
    const cameEarly = await ledger.expectedEvents.cameEarly(missed.map(({ id }) => id));
    for (const file of missed) {
      if (signal.aborted) return;
      if (cameEarly.has(file.id))
        await inbox.commits.add((tables) => tables.expectedEvents.stopExpecting(file.id));
      const event = await inbox.addFound(file);
      if (event) onFound(event);
    }
  }
}

const isoBefore = (milliseconds: number): string => new Date(Date.now() - milliseconds).toISOString();
