import type { Outcome } from '../flows/bulk.ts';
import { errorJson } from '../lib/error-json.ts';
import type { StenoError } from '../lib/errors.ts';
import type { Json } from '../lib/json.ts';

/**
 * One document for one item, an array in the order asked for several; a failure takes the place of its item. `isList`:
 * the command line asks for several, even if there is one. `name`: what an item is.
 */
export function documents<T>(
  outcomes: readonly Outcome<T>[],
  json: (value: T) => Json,
  { name, isList = outcomes.length !== 1 }: { name: 'audiofile' | 'invoice'; isList?: boolean },
): Json {
  const all = outcomes.map((outcome) =>
    outcome.error ? failureJson(name, outcome.what, outcome.error) : json(outcome.value),
  );
  return isList ? all : (all[0] ?? null);
}

const failureJson = (name: string, what: string, error: StenoError): Json =>
  new Map<string, Json>([
    [name, what],
    ['error', errorJson(error)],
  ]);
