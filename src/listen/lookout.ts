/** Looks for events that never came: while nobody listened, or because the one delivery went wrong. */
import type { Transport } from '../api/http/transport.ts';
import { followFiles } from '../flows/files/refresh.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { StenoError } from '../lib/errors.ts';
import type { HeardEvent } from './event.ts';
import type { Inbox } from './inbox.ts';

const TICK = 5_000;
/** So often files that nothing was heard of are asked about, so many at most, and so many at once. */
const INTERVAL = 5 * 60_000;
const MOST = 200;
const JOBS = 4;
/** Files that were heard of are asked about sooner, but no more often than this. */
const SOONEST = 15_000;
/** An event may come a little later than the state that it is about. */
const GRACE = 5_000;

export interface Looking {
  /** Absent where no account is set up: then nothing is asked. */
  readonly transport: Transport | undefined;
  readonly ledger: Ledger;
  readonly inbox: Inbox;
  readonly run: number;
  readonly onTick: () => Promise<void>;
  readonly onFound: (event: HeardEvent) => void;
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
    }, TICK);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#ticking;
  }

  async #tick(): Promise<void> {
    if (this.#stopped) return;
    const { ledger, inbox, run, onTick, onFound, onTrouble } = this.#looking;
    try {
      await inbox.commits.add(() => {
        ledger.runs.lives(run);
        ledger.heard.await();
      });
      await onTick();
      await this.#ask();
      for (const missed of ledger.heard.missed(new Date(Date.now() - GRACE).toISOString())) {
        const event = await inbox.found(missed);
        if (event) onFound(event);
      }
    } catch (error) {
      if (!this.#stopped) onTrouble(error as Error);
    }
  }

  async #ask(): Promise<void> {
    const { transport, ledger } = this.#looking;
    const now = Date.now();
    if (!transport || now - this.#looked < SOONEST) return;
    const all = now - this.#lookedAtAll >= INTERVAL;
    const [first, ...others] = ledger.heard.toLookAt(all ? new Date(now - SOONEST).toISOString() : '', MOST);
    if (all) this.#lookedAtAll = now;
    if (first === undefined) return;
    this.#looked = now;
    // A service that is out of reach is found out with one question, not with hundreds.
    for (const ids of [[first], others]) {
      const outcomes = await followFiles(transport, ledger, ids, JOBS);
      const failed = outcomes.find(({ error }) => error && isTrouble(error))?.error;
      if (failed) throw failed;
    }
  }
}

/** One file that the service does not know is no trouble; a service that is out of reach is. */
const isTrouble = ({ kind }: StenoError): boolean => kind === 'network' || kind === 'timeout';
