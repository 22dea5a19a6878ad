/** The queues of a session, one for each action; what waits in them are rows of the ledger. */
import type { Ledger } from '../../ledger/ledger.ts';
import { ReceivedEvent } from '../event.ts';
import type { GroupCommit } from '../group-commit.ts';
import type { RawBodies } from '../raw-bodies.ts';
import { startTimer } from '../timers.ts';
import type { Action } from './action.ts';
import { ActionQueue, type ActionStore, type QueueOptions } from './queue.ts';

interface QueuesOptions extends Omit<QueueOptions, 'abort'> {
  readonly ledger: Ledger;
  readonly run: number;
  readonly commits: GroupCommit;
  readonly rawBodies: RawBodies;
  readonly abort: AbortController;
}

export class ActionQueues {
  readonly #options: QueuesOptions;
  readonly #queues: readonly ActionQueue[];

  constructor(actions: readonly Action[], options: QueuesOptions) {
    this.#options = options;
    const queueOptions = { ...options, abort: options.abort.signal };
    this.#queues = actions.map((action) => new ActionQueue(action, this.#storeFor(action), queueOptions));
  }

  wake(): void {
    for (const queue of this.#queues) queue.wake();
  }

  /** Takes over what other listeners left undone, where the action is the same. */
  async adopt(): Promise<void> {
    const { ledger, run, commits } = this.#options;
    const running = ledger.runs.running();
    for (const queue of this.#queues) {
      const { action } = queue;
      const adopted = await commits.add(() =>
        ledger.actions.adopt(action, run, running, action.retriedByNext),
      );
      if (adopted > 0) queue.rewind();
    }
  }

  /** After the goal was reached: does what is left to do; what does not work soon is left to the next listener. */
  async finish(): Promise<void> {
    await Promise.all(this.#queues.map((queue) => queue.idle()));
  }

  /** Begins nothing more; what is under way has this long to end by itself. */
  async stop(graceMs: number): Promise<void> {
    const { abort, onError } = this.#options;
    const cancel = startTimer(graceMs, () => abort.abort(), onError);
    await Promise.all(this.#queues.map((queue) => queue.stop()));
    cancel();
    await Promise.all(this.#queues.map(({ action }) => action.close?.()));
  }

  /** What is left to do for the next listener. */
  left(): Array<{ action: Action; left: number }> {
    const { ledger, run } = this.#options;
    return this.#queues
      .map(({ action }) => ({ action, left: ledger.actions.unfinished(action, run, action.retriedByNext) }))
      .filter(({ left }) => left > 0);
  }

  #storeFor(action: Action): ActionStore {
    const { ledger, run, commits, rawBodies } = this.#options;
    const { actions, events } = ledger;
    return {
      pending: (after, limit) =>
        actions.pending(action, run, after, limit).map(({ event, tries }) => ({ n: event, tries })),
      event: (n) => {
        const row = events.get(n);
        return row && new ReceivedEvent(row, rawBodies.get(n));
      },
      write: async (n, state) => {
        await commits.add(() => actions.update(n, action, state));
        if (action.kind === 'forward' && state.status !== 'pending') rawBodies.release(n);
      },
    };
  }
}
