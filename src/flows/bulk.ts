import { BulkError, type Failure, StenoError } from '../lib/errors.ts';

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
  let accepted = false;
  let refused: StenoError | undefined;
  let fatal: unknown;
  const worker = async (): Promise<void> => {
    while (next < items.length && !fatal && (accepted || !refused)) {
      const at = next++;
      const item = items[at] as I;
      try {
        outcomes[at] = { what: name(item), value: await work(item) };
        accepted = true;
      } catch (error) {
        if (!(error instanceof StenoError) || error.kind === 'interrupted') fatal = error;
        else outcomes[at] = { what: name(item), error };
        if (error instanceof StenoError && error.status === 401) refused = error;
      }
    }
  };
  const workers = (): Promise<unknown> =>
    Promise.all(Array.from({ length: Math.min(jobs, items.length) }, worker));
  await workers();
  // A key that is refused at first and never accepted is no key; one that was accepted since may go on.
  if (!fatal && refused && !accepted && items.length > 1) throw refused;
  await workers();
  if (fatal) throw fatal;
  return outcomes;
}

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
