import { BulkError, type Failure, StenoError } from '../errors.ts';

export interface Outcome<T> {
  readonly what: string;
  readonly value?: T;
  readonly error?: StenoError;
}

/** Does the same for many things, so many at a time; one failure does not stop the others. */
export async function doEach<I, T>(
  items: readonly I[],
  jobs: number,
  name: (item: I) => string,
  work: (item: I) => Promise<T>,
): Promise<Outcome<T>[]> {
  const outcomes: Outcome<T>[] = [];
  let next = 0;
  let fatal: unknown;
  const worker = async (): Promise<void> => {
    while (next < items.length && !fatal) {
      const at = next++;
      const item = items[at] as I;
      try {
        outcomes[at] = { what: name(item), value: await work(item) };
      } catch (error) {
        if (stopsAll(error)) fatal = error;
        else outcomes[at] = { what: name(item), error: error as StenoError };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, items.length) }, worker));
  if (fatal) throw fatal;
  return outcomes;
}

/** A key that is not accepted once is not accepted a thousand times. */
const stopsAll = (error: unknown): boolean =>
  !(error instanceof StenoError) || error.kind === 'auth' || error.kind === 'interrupted';

export const values = <T>(outcomes: readonly Outcome<T>[]): T[] =>
  outcomes.flatMap((outcome) => (outcome.error ? [] : [outcome.value as T]));

/** Raises what failed: alone as it is, all alike as their kind, a mixture as partial. */
export function raiseFailures(outcomes: ReadonlyArray<Outcome<unknown>>): void {
  const failures = outcomes.flatMap(({ what, error }): Failure[] => (error ? [{ what, error }] : []));
  const [first] = failures;
  if (!first) return;
  if (outcomes.length === 1) throw first.error;
  const all = failures.length === outcomes.length;
  const alike = failures.every(({ error }) => error.kind === first.error.kind);
  const kind = all ? (alike ? first.error.kind : 'failed') : 'partial';
  throw new BulkError(kind, `${failures.length} of ${outcomes.length} failed`, failures);
}
