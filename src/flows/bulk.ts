/** The same work for many items: what became of each, and what is raised at the end. */
import { CallError } from '../api/http/failures.ts';
import { BulkError, type Failure, type Kind, StenoError } from '../lib/errors.ts';
import { noReport, type Report } from '../lib/progress.ts';

export { groupBy } from '../ledger/table.ts';

/** What became of one of many items: a value or an error, never both. */
export type Outcome<T> =
  | { readonly what: string; readonly value: T; readonly error?: undefined }
  | (Failure & { readonly value?: undefined });

/**
 * Does the same work for every item, `concurrency` at a time, and gives an outcome for each, in order. A failure does
 * not stop the others, except:
 *
 * - An interruption, or an error that is not ours, stops everything and is raised.
 * - After a 401 with no success so far, nothing new is started until the calls under way have ended. If all of them
 *   failed too, the key is wrong: the 401 is raised once, not listed for every item. If one succeeded, the key is
 *   right, the 401 is about its item alone, and the rest is done.
 * - While the service is down or busy, nothing new is started. If no call under way is answered either, the rest is
 *   not asked for: all have the same error.
 */
export const doEach = <I, T>(
  items: readonly I[],
  concurrency: number,
  name: (item: I) => string,
  work: (item: I, at: number) => Promise<T>,
  /** Is told how many are done, whatever became of them, and how many failed. */
  report: Report = noReport,
): Promise<Outcome<T>[]> =>
  doPlaces({
    ...{ count: items.length, concurrency, report },
    name: (at) => name(items[at] as I),
    work: (at) => work(items[at] as I, at),
  });

/** The same of work that is told by its places. */
export async function doPlaces<T>(work: BulkWork<T>): Promise<Outcome<T>[]> {
  const outcomes: Outcome<T>[] = [];
  await doAll<T>({
    ...work,
    onOutcome: (outcome, at) => {
      outcomes[at] = outcome;
    },
  });
  return outcomes;
}

export interface BulkWork<T> {
  readonly count: number;
  readonly concurrency: number;
  readonly name: (at: number) => string;
  /**
   * Is called in the order of the places. It may call `onAnswered` when its call of the service is over and only the disk
   * is left: the next item is begun then, unless as many as `concurrency` are being finished already. One at a time stays
   * one at a time.
   */
  readonly work: (at: number, onAnswered: () => void) => Promise<T>;
  readonly report?: Report | undefined;
}

/** The same where the results would fill the memory: they are not kept, `work` itself tells of each. */
export async function doMany(work: BulkWork<unknown>): Promise<Tally> {
  const tally = new Tally(work.count);
  await doAll({ ...work, onOutcome: (outcome, at) => tally.add(outcome, at) });
  return tally;
}

/** How many items there were, and which of them failed. */
export class Tally {
  readonly total: number;
  readonly #failed = new Map<number, Failure>();

  constructor(total: number) {
    this.total = total;
  }

  add({ what, error }: MayHaveFailed, at: number): void {
    if (error) this.#failed.set(at, { what, error });
  }

  /** As if there had been nothing else. */
  get onlyFailed(): Tally {
    const tally = new Tally(this.#failed.size);
    for (const [at, failure] of this.#failed) tally.add(failure, at);
    return tally;
  }

  /** In the order of the items. */
  get failed(): Failure[] {
    return [...this.#failed].sort(([one], [other]) => one - other).map(([, failure]) => failure);
  }
}

async function doAll<T>({
  count,
  concurrency,
  name,
  work,
  onOutcome,
  report = noReport,
}: BulkWork<T> & { readonly onOutcome: (outcome: Outcome<T>, at: number) => void }): Promise<void> {
  let [done, failed] = [0, 0];
  let next = 0;
  let succeeded = false;
  let unauthorized: StenoError | undefined;
  let down: StenoError | undefined;
  let fatal: unknown;
  let finishing = 0;
  let onAllFinished = (): void => {};
  const doOne = async (at: number, onAnswered: () => void): Promise<void> => {
    try {
      const value = await work(at, onAnswered);
      onOutcome({ what: name(at), value }, at);
      succeeded = true;
      down = undefined;
    } catch (error) {
      if (!(error instanceof StenoError) || error.kind === 'interrupted') {
        fatal = error;
        return;
      }
      onOutcome({ what: name(at), error }, at);
      failed += 1;
      if (error.status === 401) unauthorized = error;
      if (isServiceDown(error)) down = error;
    }
    done += 1;
    report({ done, of: count, failed });
  };
  const mayStart = (): boolean => next < count && !fatal && !down && (succeeded || !unauthorized);
  /** Resolves when the next item may begin. */
  const begin = (at: number): Promise<void> =>
    new Promise((resolve) => {
      let isFinishing = false;
      const onAnswered = (): void => {
        if (isFinishing || concurrency === 1 || finishing >= concurrency) return;
        isFinishing = true;
        finishing += 1;
        resolve();
      };
      const onEnd = (): void => {
        if (isFinishing) finishing -= 1;
        if (finishing === 0) onAllFinished();
        resolve();
      };
      // What `name`, `report` or `onOutcome` throws, also of an item whose turn is over.
      doOne(at, onAnswered).then(onEnd, (error: unknown) => {
        fatal = error;
        onEnd();
      });
    });
  const worker = async (): Promise<void> => {
    while (mayStart()) await begin(next++);
  };
  const runWorkers = async (): Promise<void> => {
    await Promise.all(Array.from({ length: Math.min(concurrency, count) }, worker));
    if (finishing > 0)
      await new Promise<void>((resolve) => {
        onAllFinished = resolve;
      });
  };
  report({ done, of: count, failed });
  await runWorkers();
  if (!fatal && unauthorized && !succeeded && count > 1) throw unauthorized;
  // Some workers may have stopped before another call succeeded.
  while (mayStart()) await runWorkers();
  if (fatal) throw fatal;
  for (; down && next < count; next += 1) onOutcome({ what: name(next), error: down }, next);
}

/** The service was tried again for long enough: it is no use to ask for more. */
export const isServiceDown = (error: unknown): error is CallError =>
  error instanceof CallError && error.serviceDown;

export const values = <T>(outcomes: readonly Outcome<T>[]): T[] =>
  outcomes.flatMap((outcome) => (outcome.error ? [] : [outcome.value]));

export interface MayHaveFailed {
  readonly what: string;
  readonly error?: StenoError | undefined;
}

export const failures = (outcomes: readonly MayHaveFailed[]): Failure[] =>
  outcomes.flatMap(({ what, error }) => (error ? [{ what, error }] : []));

/** Raises what failed: a single item's error as it is, errors of one kind as that kind, a mixture as partial; or as `kind`. */
export function raiseFailures(outcomes: readonly MayHaveFailed[], kind?: Kind): void {
  const failed = failures(outcomes).map(({ what, error }) => ({
    what,
    error: kind ? new StenoError(kind, error.message, { hint: error.hint, cause: error }) : error,
  }));
  raiseFailed(failed, outcomes.length, kind);
}

/** The same of several tallies, as if all of it were one piece of work. */
export const raiseTallies = (tallies: readonly Tally[]): void =>
  raiseFailed(
    tallies.flatMap(({ failed }) => failed),
    tallies.reduce((sum, { total }) => sum + total, 0),
  );

function raiseFailed(failed: readonly Failure[], total: number, kind?: Kind): void {
  const [first] = failed;
  if (!first) return;
  if (total === 1) throw first.error;
  // A service that is down: one line says it all.
  if (failed.length === total && failed.every(({ error }) => error === first.error)) throw first.error;
  throw new BulkError(kind ?? kindOfAll(failed, total), `${failed.length} of ${total} failed`, failed);
}

/** `all`: how many were tried. */
export function kindOfAll(failed: readonly Failure[], all: number): Kind {
  if (failed.length < all) return 'partial';
  const kinds = new Set(failed.map(({ error }) => error.kind));
  const [kind] = kinds;
  return kinds.size === 1 && kind ? kind : 'failed';
}

/** Hands results on in the order of their numbers, each as soon as all before it are there. */
export class InOrder<Item> {
  readonly #onNext: (item: Item) => void;
  /** Those that came before their turn; nothing stands for one that gave no result. */
  readonly #early = new Map<number, Item | undefined>();
  #next = 0;

  constructor(onNext: (item: Item) => void) {
    this.#onNext = onNext;
  }

  add(at: number, item: Item | undefined): void {
    this.#early.set(at, item);
    for (; this.#early.has(this.#next); this.#next += 1) {
      const next = this.#early.get(this.#next);
      this.#early.delete(this.#next);
      if (next !== undefined) this.#onNext(next);
    }
  }

  /** Hands on what still waits for one that will not come. */
  flush(): void {
    const left = [...this.#early].sort(([one], [other]) => one - other);
    this.#early.clear();
    for (const [, item] of left) if (item !== undefined) this.#onNext(item);
  }
}

/** What became of one piece of work, which may fail with an error for people. */
export async function outcomeOf<T>(what: string, work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { what, value: await work() };
  } catch (error) {
    if (error instanceof StenoError) return { what, error };
    throw error;
  }
}
