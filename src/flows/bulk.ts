import { CallError } from '../api/http/failures.ts';
import { BulkError, type Failure, type Kind, StenoError } from '../lib/errors.ts';
import type { Report } from '../lib/progress.ts';

/** What became of one of many items: a value or an error, never both. */
export type Outcome<T> = Success<T> | (Failure & { readonly value?: undefined });

interface Success<T> {
  readonly what: string;
  readonly value: T;
  readonly error?: undefined;
}

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
export async function doEach<I, T>(
  items: readonly I[],
  concurrency: number,
  name: (item: I) => string,
  work: (item: I, at: number) => Promise<T>,
  /** Is told how many are done, whatever became of them, and how many failed. */
  report: Report = () => {},
): Promise<Outcome<T>[]> {
  const outcomes: Outcome<T>[] = [];
  let [done, failed] = [0, 0];
  let next = 0;
  let succeeded = false;
  let unauthorized: StenoError | undefined;
  let down: StenoError | undefined;
  let fatal: unknown;
  const doOne = async (at: number): Promise<void> => {
    const item = items[at] as I;
    try {
      outcomes[at] = { what: name(item), value: await work(item, at) };
      succeeded = true;
      down = undefined;
    } catch (error) {
      if (error instanceof StenoError && error.kind !== 'interrupted') {
        outcomes[at] = { what: name(item), error };
        failed += 1;
        if (error.status === 401) unauthorized = error;
        if (isServiceDown(error)) down = error;
      } else fatal = error;
    }
  };
  const told = async (at: number): Promise<void> => {
    await doOne(at);
    if (outcomes[at]) done += 1;
    report({ done, of: items.length, failed });
  };
  const mayStart = (): boolean => next < items.length && !fatal && !down && (succeeded || !unauthorized);
  const worker = async (): Promise<void> => {
    while (mayStart()) await told(next++);
  };
  const runWorkers = (): Promise<unknown> =>
    Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  report({ done, of: items.length, failed });
  await runWorkers();
  if (!fatal && unauthorized && !succeeded && items.length > 1) throw unauthorized;
  // Some workers may have stopped before another call succeeded.
  while (mayStart()) await runWorkers();
  if (fatal) throw fatal;
  for (; down && next < items.length; next += 1)
    outcomes[next] = { what: name(items[next] as I), error: down };
  return outcomes;
}

/** The service was tried again for long enough: it is no use to ask for more. */
export const isServiceDown = (error: unknown): error is CallError =>
  error instanceof CallError && error.serviceDown;

export const values = <T>(outcomes: readonly Outcome<T>[]): T[] =>
  outcomes.flatMap((outcome) => (outcome.error ? [] : [outcome.value]));

interface MayHaveFailed {
  readonly what: string;
  readonly error?: StenoError | undefined;
}

export const failures = (outcomes: readonly MayHaveFailed[]): Failure[] =>
  outcomes.flatMap(({ what, error }) => (error ? [{ what, error }] : []));

/** Raises what failed: a single item's error as it is, errors of one kind as that kind, a mixture as partial. */
export function raiseFailures(outcomes: readonly MayHaveFailed[]): void {
  const failed = failures(outcomes);
  const [first] = failed;
  if (!first) return;
  if (outcomes.length === 1) throw first.error;
  // A service that is down: one line says it all.
  if (failed.length === outcomes.length && failed.every(({ error }) => error === first.error))
    throw first.error;
  throw new BulkError(
    kindOf(failed, outcomes.length),
    `${failed.length} of ${outcomes.length} failed`,
    failed,
  );
}

function kindOf(failed: readonly Failure[], all: number): Kind {
  if (failed.length < all) return 'partial';
  const kinds = new Set(failed.map(({ error }) => error.kind));
  const [kind] = kinds;
  return kinds.size === 1 && kind ? kind : 'failed';
}
