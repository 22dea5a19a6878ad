/** The queues of a session, one for each action; what waits in them are rows of the ledger. */
import { Actions } from '../../ledger/actions.ts';
import { inSlices } from '../slices.ts';
import { startTimer } from '../timers.ts';
import type { Action } from './action.ts';
import { ActionQueue, type QueueOptions } from './queue.ts';
import { ActionStore, type StoreOptions } from './store.ts';

interface QueuesOptions extends Omit<QueueOptions, 'abort'>, StoreOptions {
  readonly abort: AbortController;
}

export class ActionQueues {
  readonly #options: QueuesOptions;
  readonly #queues: readonly ActionQueue[];

  constructor(actions: readonly Action[], options: QueuesOptions) {
    this.#options = options;
    const queueOptions = { ...options, abort: options.abort.signal };
    this.#queues = actions.map(
      (action) => new ActionQueue(action, new ActionStore(action, options), queueOptions),
    );
  }

  wake(): void {
    for (const queue of this.#queues) queue.wake();
  }

  /** Takes over what other listeners left undone, where the action is the same. */
  async adopt(gone: readonly number[]): Promise<void> {
    const { end } = this.#options;
    for (const queue of this.#queues) {
      await inSlices(end.signal, () => queue.store.revive(gone));
      await inSlices(end.signal, async () => {
        const adopted = await queue.store.adopt(gone);
        end.takeOver(adopted);
        if (adopted.length) queue.wake();
        return Actions.hasMore(adopted);
      });
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
  async left(): Promise<Array<{ action: Action; left: number }>> {
    const all = await Promise.all(
      this.#queues.map(async ({ action, store }) => ({ action, left: await store.left() })),
    );
    return all.filter(({ left }) => left > 0);
  }
}
