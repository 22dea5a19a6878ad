/** Polls the service about open files, to find events that never came: their one delivery may have gone wrong. */

import type { Transport } from '../api/http/transport.ts';
import type { Outcome } from '../flows/bulk.ts';
import { refreshFiles } from '../flows/files/refresh.ts';
import { FileWatch } from '../ledger/file-watch.ts';
import { monotonicMs, nowMs } from '../lib/time.ts';
import { inSlices } from './background.ts';
import { ServiceCheck } from './download.ts';
import type { Inbox } from './inbox.ts';
import { LeaderTask, type SessionContext } from './session-run.ts';

/** A file of which nothing is heard is polled at most once in this many ticks. */
const TICKS_BETWEEN_POLLS = 60;
/** Files that events named are asked about at most once in this many ticks. */
const TICKS_BETWEEN_ASKS = 3;
const MAX_NAMED = 200;
/**
 * In one round of polls of this many, one is of a file that is not due, so that none is left out while many are due. The
 * others are enough for 1,500 files in half an hour.
 */
const ROUNDS_PER_OTHER = 3;
/** In a minute, which is this many ticks at their usual pace. */
const MAX_POLLS = 60;
const MINUTE_TICKS = 12;
/** At a time. More than come due between two ticks, to make up for a service that answers slowly. */
const MAX_POLLS_AT_ONCE = 10;
/** An event may come a little later than the state that it is about. */
const GRACE_TICKS = 1;
const JOBS = 4;
/** A file that can't be asked about is left out for a while, twice as long after each failure. */
const MAX_LEFT_OUT = 1_000;
const MAX_PAUSE_FACTOR = 60;

interface FailingFile {
  readonly failures: number;
  /** Until then it is left out. */
  readonly untilMs: number;
}

export class MissedEvents {
  readonly #session: SessionContext;
  readonly #inbox: Inbox;
  readonly #onFound: () => void;
  readonly #check: ServiceCheck | undefined;
  /** Several listeners would each ask about all files. */
  readonly #task: LeaderTask;
  readonly #failing = new Map<string, FailingFile>();
  /** When the polls of the last minute were made. */
  #pollTimes: number[] = [];
  #rounds = 0;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** Since the last call that worked. */
  #failures = 0;

  constructor(session: SessionContext, inbox: Inbox, onFound: () => void) {
    const { service, ledger } = session;
    this.#session = session;
    this.#inbox = inbox;
    this.#onFound = onFound;
    this.#task = new LeaderTask(session, `ask about files of ${ledger.profile}`);
    this.#check = service && new ServiceCheck(service);
  }

  async tick(): Promise<void> {
    await this.#takeIn();
    await this.#ask();
    await this.#addFound();
  }

  /** A ledger with very many open files is taken in bit by bit. */
  async #takeIn(): Promise<void> {
    const { commits, end } = this.#session;
    await inSlices(end.signal, () =>
      commits.add(async (tables) => {
        await new FileWatch(tables).forgetFuturePolls();
        return new FileWatch(tables).takeInSome();
      }),
    );
  }

  async #ask(): Promise<void> {
    const { service } = this.#session;
    if (!service || this.#isPausing() || !(await this.#task.take())) return;
    try {
      await this.#askAboutNamed(service);
      await this.#poll(service);
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      this.#askedAtMs = monotonicMs();
      // Another listener may be able to.
      await this.#task.leave();
      throw error;
    }
  }

  /** A service that can't be reached is not asked at every tick. */
  #isPausing(): boolean {
    const factor = this.#failures === 0 ? 0 : Math.min(MAX_PAUSE_FACTOR, 2 ** (this.#failures - 1));
    return monotonicMs() - this.#askedAtMs < factor * this.#pauseMs;
  }

  get #pauseMs(): number {
    return TICKS_BETWEEN_ASKS * this.#session.tickMs;
  }

  /** Files that events named: each event has its file asked about soon. */
  async #askAboutNamed(service: Transport): Promise<void> {
    const now = monotonicMs();
    if (now - this.#askedAtMs < this.#pauseMs) return;
    const leftOut = [...this.#failing].flatMap(([id, { untilMs }]) => (untilMs > now ? [id] : []));
    const named = await new FileWatch(this.#session.ledger).named(MAX_NAMED, leftOut);
    if (named.length) this.#askedAtMs = now;
    await this.#askAbout(service, named);
  }

  /** Files of which nothing was heard: those first that are due by the target of their SKU. */
  async #poll(service: Transport): Promise<void> {
    const { ledger, tickMs } = this.#session;
    const minuteAgo = monotonicMs() - MINUTE_TICKS * tickMs;
    this.#pollTimes = this.#pollTimes.filter((time) => time >= minuteAgo);
    const count = Math.min(MAX_POLLS_AT_ONCE, MAX_POLLS - this.#pollTimes.length);
    if (count <= 0) return;
    const before = isoBefore(TICKS_BETWEEN_POLLS * tickMs);
    const due = await new FileWatch(ledger).due(before, count);
    const others = await new FileWatch(ledger).open(before, count);
    const first = this.#rounds % ROUNDS_PER_OTHER === 0 ? others.slice(0, 1) : [];
    this.#rounds += 1;
    const chosen = [...new Set([...first, ...due, ...others])].slice(0, count);
    await this.#askAbout(service, chosen).finally(() => {
      // After the calls: the service counts them when they come.
      const now = monotonicMs();
      this.#pollTimes.push(...chosen.map(() => now));
    });
  }

  async #askAbout(service: Transport, [first, ...others]: readonly string[]): Promise<void> {
    if (first === undefined) return;
    // One call finds out whether the service can be reached; hundreds would each wait for it.
    for (const ids of [[first], others])
      await this.#noteOutcomes(await refreshFiles(service, this.#session.ledger, ids, { jobs: JOBS }));
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
    await this.#session.commits.add((tables) => new FileWatch(tables).noteFailed(failed));
  }

  #leaveOut(id: string): void {
    const failures = (this.#failing.get(id)?.failures ?? 0) + 1;
    const untilMs = monotonicMs() + Math.min(MAX_PAUSE_FACTOR, 2 ** failures) * this.#pauseMs;
    if (this.#failing.size >= MAX_LEFT_OUT) this.#failing.clear();
    this.#failing.set(id, { failures, untilMs });
  }

  /** Makes an event of each file that is delivered and whose own event did not come. */
  async #addFound(): Promise<void> {
    const { ledger, commits, tickMs, end } = this.#session;
    for (const file of await new FileWatch(ledger).missed(isoBefore(GRACE_TICKS * tickMs))) {
      if (end.signal.aborted) return;
      if (file.came_early) {
        await commits.add((tables) => new FileWatch(tables).stopExpecting(file.id));
        continue;
      }
      if (await this.#inbox.addFound(file)) this.#onFound();
    }
  }
}

const isoBefore = (milliseconds: number): string => new Date(nowMs() - milliseconds).toISOString();
