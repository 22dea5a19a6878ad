/** Asks the service about open files, to find events that never came: their one delivery may have gone wrong. */
import type { Transport } from '../api/http/transport.ts';
import type { Outcome } from '../flows/bulk.ts';
import { refreshFiles } from '../flows/files/refresh.ts';
import { ExpectedEvents } from '../ledger/expected-events.ts';
import { FileLooks } from '../ledger/file-looks.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { monotonicMs, nowMs } from '../lib/clock.ts';
import { ServiceCheck } from './actions/service-check.ts';
import { Duty } from './duty.ts';
import type { ReceivedEvent } from './event.ts';
import type { Inbox } from './inbox.ts';
import { LookBudget } from './look-budget.ts';
import type { SessionRun } from './session-run.ts';
import { inSlices } from './slices.ts';

/** A file of which nothing is heard is asked about at most once in this many ticks. */
const TICKS_BETWEEN_LOOKS = 60;
/** Files that events named are asked about at most once in this many ticks. */
const TICKS_BETWEEN_ASKS = 3;
const MAX_NAMED = 200;
/**
 * One look in this many is at a file that is not due, so that none is left out while many are due. The others are enough
 * for 1,500 files in half an hour.
 */
const LOOKS_PER_OTHER = 15;
/** An event may come a little later than the state that it is about. */
const GRACE_TICKS = 1;
const JOBS = 4;
/** A file that can't be asked about is left out for a while, twice as long after each failure. */
const MAX_LEFT_OUT = 1_000;
const MAX_PAUSE_FACTOR = 60;

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
  readonly #budget: LookBudget;
  /** How many looks there were, to give each kind of file its share. */
  #looks = 0;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** Since the last call that worked. */
  #failures = 0;

  constructor(options: LookoutOptions) {
    this.#options = options;
    this.#duty = new Duty({
      ...options,
      commits: options.inbox.commits,
      name: `ask about files of ${options.ledger.profile}`,
    });
    this.#check = options.service && new ServiceCheck(options.service);
    this.#budget = new LookBudget(options.tickMs);
  }

  async tick(): Promise<void> {
    await this.#takeIn();
    await this.#ask();
    await this.#addFound();
  }

  /** A ledger with very many open files is taken in bit by bit. */
  async #takeIn(): Promise<void> {
    const { inbox, signal } = this.#options;
    await inSlices(signal, () =>
      inbox.commits.add(async (tables) => {
        await new FileLooks(tables).forgetFutureLooks();
        return new FileLooks(tables).takeInSome();
      }),
    );
  }

  async #ask(): Promise<void> {
    const { service } = this.#options;
    if (!service || this.#isPausing() || !(await this.#duty.take())) return;
    try {
      await this.#askAboutNamed(service);
      await this.#look(service);
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      this.#askedAtMs = monotonicMs();
      // Another listener may be able to.
      await this.#duty.leave();
      throw error;
    }
  }

  /** A service that can't be reached is not asked at every tick. */
  #isPausing(): boolean {
    const factor = this.#failures === 0 ? 0 : Math.min(MAX_PAUSE_FACTOR, 2 ** (this.#failures - 1));
    return monotonicMs() - this.#askedAtMs < factor * this.#pauseMs;
  }

  get #pauseMs(): number {
    return TICKS_BETWEEN_ASKS * this.#options.tickMs;
  }

  /** Files that events named: each event has its file asked about soon. */
  async #askAboutNamed(service: Transport): Promise<void> {
    const now = monotonicMs();
    if (now - this.#askedAtMs < this.#pauseMs) return;
    const leftOut = [...this.#failing].flatMap(([id, { untilMs }]) => (untilMs > now ? [id] : []));
    const named = await new FileLooks(this.#options.ledger).named(MAX_NAMED, leftOut);
    if (named.length) this.#askedAtMs = now;
    await this.#askAbout(service, named);
  }

  /** Files of which nothing was heard: those first that are due by the target of their SKU. */
  async #look(service: Transport): Promise<void> {
    const { ledger, tickMs } = this.#options;
    const { left } = this.#budget;
    if (left <= 0) return;
    const before = isoBefore(TICKS_BETWEEN_LOOKS * tickMs);
    const due = await new FileLooks(ledger).due(before, left);
    const others = await new FileLooks(ledger).open(before, left);
    const chosen = this.#chosen(due, others, left);
    await this.#askAbout(service, chosen).finally(() => this.#budget.spend(chosen.length));
  }

  /** A file may be among both. */
  #chosen(due: readonly string[], others: readonly string[], count: number): string[] {
    const chosen = new Set<string>();
    const next = (ids: readonly string[]): string | undefined => ids.find((id) => !chosen.has(id));
    while (chosen.size < count) {
      const isForOthers = this.#looks % LOOKS_PER_OTHER === 0;
      const id = isForOthers ? (next(others) ?? next(due)) : (next(due) ?? next(others));
      if (id === undefined) break;
      chosen.add(id);
      this.#looks += 1;
    }
    return [...chosen];
  }

  async #askAbout(service: Transport, [first, ...others]: readonly string[]): Promise<void> {
    if (first === undefined) return;
    // One call finds out whether the service can be reached; hundreds would each wait for it.
    for (const ids of [[first], others])
      await this.#noteOutcomes(await refreshFiles(service, this.#options.ledger, ids, { jobs: JOBS }));
  }

  /** An error about one file says nothing of the others, unless the service says the same of all. */
  async #noteOutcomes(outcomes: ReadonlyArray<Outcome<unknown>>): Promise<void> {
    const failed: string[] = [];
    for (const { what, error } of outcomes) {
      const trouble = error && (await this.#check?.troubleBehind(error));
      if (trouble) throw trouble;
      if (error) failed.push(what);
      else this.#failing.delete(what);
    }
    if (failed.length === 0) return;
    for (const id of failed) this.#leaveOut(id);
    await this.#options.inbox.commits.add((tables) => new FileLooks(tables).noteFailed(failed));
  }

  #leaveOut(id: string): void {
    const failures = (this.#failing.get(id)?.failures ?? 0) + 1;
    const untilMs = monotonicMs() + Math.min(MAX_PAUSE_FACTOR, 2 ** failures) * this.#pauseMs;
    if (this.#failing.size >= MAX_LEFT_OUT) this.#failing.clear();
    this.#failing.set(id, { failures, untilMs });
  }

  /** Makes an event of each file that is delivered and whose own event did not come. */
  async #addFound(): Promise<void> {
    const { ledger, inbox, tickMs, signal, onFound } = this.#options;
    const missed = await new ExpectedEvents(ledger).missed(isoBefore(GRACE_TICKS * tickMs));
    const cameEarly = await new ExpectedEvents(ledger).cameEarly(missed.map(({ id }) => id));
    for (const file of missed) {
      if (signal.aborted) return;
      if (cameEarly.has(file.id))
        await inbox.commits.add((tables) => new ExpectedEvents(tables).stopExpecting(file.id));
      const event = await inbox.addFound(file);
      if (event) onFound(event);
    }
  }
}

const isoBefore = (milliseconds: number): string => new Date(nowMs() - milliseconds).toISOString();
