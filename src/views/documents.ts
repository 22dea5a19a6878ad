import type { Outcome } from '../flows/bulk.ts';
import { errorJson } from '../lib/error-json.ts';
import type { StenoError } from '../lib/errors.ts';
import type { Json } from '../lib/json.ts';

/**
 * One document for one item, an array in the order asked for several; a failure takes the place of its item. `isList`:
 * the command line asks for several, even if there is one.
 */
export function documents<T>(
  outcomes: readonly Outcome<T>[],
  json: (value: T) => Json,
  isList = outcomes.length !== 1,
): Json {
  const all = outcomes.map((outcome) =>
    outcome.error ? failureJson(outcome.what, outcome.error) : json(outcome.value),
  );
  return isList ? all : (all[0] ?? null);
}

export const failureJson = (id: string, error: StenoError | undefined): Json =>
  new Map<string, Json>([
    ['id', id],
    ['error', error ? errorJson(error) : null],
  ]);
