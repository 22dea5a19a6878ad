/** What a session received and did, for the total at its end. */
import { monotonicMs } from '../lib/clock.ts';
import type { Action, ActionReport } from './actions/action.ts';
import type { ReceivedEvent } from './event.ts';

/** Names come from strangers, and there may be any number of them. */
const MAX_KINDS = 20;

interface ActionCounts {
  done: number;
  failed: number;
}

interface Counted {
  readonly onReady: (url: string) => void;
  readonly onLost: (event: ReceivedEvent) => void;
  readonly onReport: (report: ActionReport) => void;
}

export class Tally {
  /** Events that were shown and acted on. */
  events = 0;
  /** How many came of each type, for the types that came first. */
  readonly kinds = new Map<string, number>();
  otherKinds = 0;
  /** Kept, and left out by --only. */
  others = 0;
  /** Answered with 503, because they could not be kept. */
  lost = 0;
  readonly actions = new Map<Action['kind'], ActionCounts>();
  /** Whether it ever received. */
  isReady = false;
  readonly #startedMs = monotonicMs();

  get durationMs(): number {
    return monotonicMs() - this.#startedMs;
  }

  add(event: string, isWanted: boolean): void {
    if (!isWanted) {
      this.others += 1;
      return;
    }
    this.events += 1;
    const count = this.kinds.get(event);
    if (count === undefined && this.kinds.size >= MAX_KINDS) this.otherKinds += 1;
    else this.kinds.set(event, (count ?? 0) + 1);
  }

  /** The same callbacks, with what they are told counted. */
  counting<Callbacks extends Counted>(callbacks: Callbacks): Callbacks {
    return {
      ...callbacks,
      onReady: (url) => {
        this.isReady = true;
        callbacks.onReady(url);
      },
      onLost: (event) => {
        this.lost += 1;
        callbacks.onLost(event);
      },
      onReport: (report) => {
        this.#addReport(report);
        callbacks.onReport(report);
      },
    };
  }

  #addReport({ action: { kind }, what, event }: ActionReport): void {
    if (!event || (what !== 'done' && what !== 'failed')) return;
    const counts = this.actions.get(kind) ?? { done: 0, failed: 0 };
    counts[what] += 1;
    this.actions.set(kind, counts);
  }
}
