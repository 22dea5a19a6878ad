/**
 * What this session has to show: each event that it keeps, and what sessions with the same filter left unshown when they
 * ended. The ledger knows up to where each session's events were shown.
 */
import { Events, type Unshown } from '../ledger/events.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Runs } from '../ledger/runs.ts';
import { ReceivedEvent } from './event.ts';
import type { GroupCommit } from './group-commit.ts';
import type { SessionRun } from './session-run.ts';
import { type OnError, runInBackground } from './timers.ts';

interface ShownEventsOptions {
  readonly ledger: Ledger;
  readonly commits: GroupCommit;
  readonly run: SessionRun;
  /** The names of the events that are shown; empty: all. */
  readonly only: readonly string[];
  readonly onError: OnError;
}

export class ShownEvents {
  readonly #options: ShownEventsOptions;
  /** By session: the last event that was shown and is not noted yet. */
  readonly #unnoted = new Map<number, number>();
  /** By ended session whose events this one shows: the last event that was read. */
  readonly #readUpTo = new Map<number, number>();
  #noting: Promise<void> | undefined;

  constructor(options: ShownEventsOptions) {
    this.#options = options;
  }

  /** The events of each session come in the order of their numbers. */
  note(events: readonly ReceivedEvent[]): void {
    for (const { run, n } of events) this.#unnoted.set(run, n);
    if (this.#noting !== undefined) return;
    const noting = this.#noteAll();
    this.#noting = noting;
    runInBackground(() => noting, this.#options.onError);
  }

  async #noteAll(): Promise<void> {
    try {
      while (this.#unnoted.size) {
        const shown = [...this.#unnoted];
        this.#unnoted.clear();
        await this.#options.commits.add(async (tables) => {
          for (const [run, upTo] of shown) await new Runs(tables).setShown(run, upTo);
        });
      }
    } catch {
      // A ledger that can't be written now: the next event that is shown tells it all, or the next session shows them again.
    } finally {
      this.#noting = undefined;
    }
  }

  /** Takes over what ended sessions have not shown; gives their events, oldest first, a page at a time. */
  async *takeOver(gone: readonly number[]): AsyncGenerator<ReceivedEvent[]> {
    const { commits, run, only } = this.#options;
    if (!run.isBegun) return;
    for (const unshown of await commits.add((tables) => new Runs(tables).takeUnshown(run.id, only, gone)))
      yield* this.#pages(unshown);
  }

  /** Each page once, however often they are asked for. */
  async *#pages({ run, only, after }: Unshown): AsyncGenerator<ReceivedEvent[]> {
    const { ledger, commits } = this.#options;
    const readUpTo = this.#readUpTo.get(run) ?? after;
    const rows = await new Events(ledger).toShow({ run, only, after: readUpTo });
    const last = rows.at(-1)?.id;
    this.#readUpTo.set(run, last ?? readUpTo);
    if (last !== undefined) {
      yield rows.map((row) => new ReceivedEvent(row));
      yield* this.#pages({ run, only, after: last });
    } else if (after >= readUpTo) await commits.add((tables) => new Runs(tables).unshown(run, only));
  }

  /** Gives the number of events that are left to the next session. */
  async finish(): Promise<number> {
    const { commits, run, only } = this.#options;
    await this.#noting;
    const all = [...this.#readUpTo.keys(), ...(run.isBegun ? [run.id] : [])];
    const lefts = await commits.add(async (tables) => {
      const counts: number[] = [];
      for (const each of all) counts.push(await new Runs(tables).unshown(each, only));
      return counts;
    });
    return lefts.reduce((sum, left) => sum + left, 0);
  }
}
