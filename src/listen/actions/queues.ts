/** The queues of a listener's actions, one for each target, all of them lists of the ledger. */
import type { Ledger } from '../../ledger/ledger.ts';
import { ReceivedEvent } from '../event.ts';
import type { GroupCommit } from '../group-commit.ts';
import type { Action } from './action.ts';
import { ActionQueue, type ActionReport, type ActionStore } from './queue.ts';

export class ActionQueues {
  readonly #ledger: Ledger;
  readonly #run: number;
  readonly #commits: GroupCommit;
  readonly #lanes: readonly ActionQueue[];

  constructor(
    actions: readonly Action[],
    ledger: Ledger,
    run: number,
    commits: GroupCommit,
    report: (report: ActionReport) => void,
  ) {
    this.#ledger = ledger;
    this.#run = run;
    this.#commits = commits;
    this.#lanes = actions.map((action) => new ActionQueue(action, this.#desk(action), report));
  }

  wake(): void {
    for (const lane of this.#lanes) lane.wake();
  }

  /** Takes over what other listeners left undone and was asked for again. */
  async adopt(): Promise<void> {
    const { actions, runs } = this.#ledger;
    const alive = runs.running();
    for (const lane of this.#lanes) {
      const { action } = lane;
      const taken = await this.#commits.add(() => actions.adopt(action, this.#run, alive, action.triesAgain));
      if (taken > 0) lane.rewind();
    }
  }

  async finish(last: number): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.finish(last)));
  }

  /** Ends all of them; tells which have something left to do. */
  async stop(grace: number): Promise<Array<{ action: Action; left: number }>> {
    await Promise.all(this.#lanes.map((lane) => lane.stop(grace)));
    await Promise.all(this.#lanes.map(({ action }) => action.close?.()));
    return this.#lanes
      .map(({ action }) => ({
        action,
        left: this.#ledger.actions.unfinished(action, this.#run, action.triesAgain),
      }))
      .filter(({ left }) => left > 0);
  }

  #desk(action: Action): ActionStore {
    const { actions, events } = this.#ledger;
    return {
      pending: (after, limit) =>
        actions.pending(action, this.#run, after, limit).map(({ event, tries }) => ({ n: event, tries })),
      event: (n) => {
        const row = events.get(n);
        return row && new ReceivedEvent(row);
      },
      write: (n, ending) => this.#commits.add(() => actions.update(n, action, ending)),
    };
  }
}
