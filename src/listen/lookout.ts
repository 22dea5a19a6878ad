/** Looks for events that never came: while nobody listened, or because the one delivery went wrong. */
import type { Transport } from '../api/http/transport.ts';
import { refreshFiles } from '../flows/files/refresh.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Env } from '../lib/env.ts';
import type { StenoError } from '../lib/errors.ts';
import type { ReceivedEvent } from './event.ts';
import type { Inbox } from './inbox.ts';

const TICK = 5_000;
/** Files that nothing was heard of are asked about once in this many ticks. */
const TICKS_BETWEEN_ALL = 60;
/** Files that were heard of are asked about sooner, but at most once in this many ticks. */
const TICKS_BETWEEN_ASKS = 3;
/** An event may come a little later than the state that it is about. */
const TICKS_OF_GRACE = 1;
const MOST_AT_ONCE = 200;
const JOBS = 4;

/** Tests set STENO_TEST_TICK_MS, so that many ticks take no minutes. */
export const tickOf = (env: Env): number => Number(env.STENO_TEST_TICK_MS) || TICK;

export interface Looking {
  /** Absent where no account is set up: then nothing is asked. */
  readonly transport: Transport | undefined;
  readonly ledger: Ledger;
  readonly inbox: Inbox;
  readonly run: number;
  /** Milliseconds from one look to the next. */
  readonly tick: number;
  readonly onTick: () => Promise<void>;
  readonly onFound: (event: ReceivedEvent) => void;
  /** The service can't be asked. */
  readonly onTrouble: (error: Error) => void;
}

export class Lookout {
  readonly #looking: Looking;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> = Promise.resolve();
  #looked = 0;
  #lookedAtAll = 0;
  #stopped = false;

  constructor(looking: Looking) {
    this.#looking = looking;
  }

  start(): void {
    this.#ticking = this.#tick();
    this.#timer = setInterval(() => {
      this.#ticking = this.#ticking.then(() => this.#tick());
    }, this.#looking.tick);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#ticking;
  }

  async #tick(): Promise<void> {
    if (this.#stopped) return;
    const { ledger, inbox, run, tick, onTick, onFound, onTrouble } = this.#looking;
    try {
      await inbox.commits.add(() => {
        ledger.runs.heartbeat(run);
        ledger.expectedEvents.expectAll();
      });
      await onTick();
      await this.#ask();
      const missed = ledger.expectedEvents.missed(new Date(Date.now() - TICKS_OF_GRACE * tick).toISOString());
      const cameEarly = ledger.expectedEvents.cameEarly(missed.map(({ id }) => id));
      for (const file of missed) {
        if (cameEarly.has(file.id))
          await inbox.commits.add(() => ledger.expectedEvents.stopExpecting(file.id));
        const event = await inbox.found(file);
        if (event) onFound(event);
      }
    } catch (error) {
      if (!this.#stopped) onTrouble(error as Error);
    }
  }

  async #ask(): Promise<void> {
    const { transport, ledger, tick } = this.#looking;
    const now = Date.now();
    const pause = TICKS_BETWEEN_ASKS * tick;
    if (!transport || now - this.#looked < pause) return;
    const all = now - this.#lookedAtAll >= TICKS_BETWEEN_ALL * tick;
    const before = all ? new Date(now - pause).toISOString() : '';
    const [first, ...others] = ledger.files.dueForRefresh(before, MOST_AT_ONCE);
    if (all) this.#lookedAtAll = now;
    if (first === undefined) return;
    this.#looked = now;
    // A service that is out of reach is found out with one question, not with hundreds.
    for (const ids of [[first], others]) {
      const outcomes = await refreshFiles(transport, ledger, ids, JOBS);
      const failed = outcomes.find(({ error }) => error && isTrouble(error))?.error;
      if (failed) throw failed;
    }
  }
}

/** One file that the service does not know is no trouble; a service that is out of reach is. */
const isTrouble = ({ kind }: StenoError): boolean => kind === 'network' || kind === 'timeout';
