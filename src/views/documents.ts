import type { Outcome } from '../flows/bulk.ts';
import { errorJson } from '../lib/error-json.ts';
import type { StenoError } from '../lib/errors.ts';
import type { Json } from '../lib/json.ts';

/** What an item is, in the names of the document that it would have been. */
type Subject = Readonly<Record<string, Json>>;

/**
 * One document for one item, an array in the order asked for several; a failure takes the place of its item. `isList`:
 * the command line asks for several, even if there is one. `name`: what an item is; a function names it by its place.
 */
export function documents<T>(
  outcomes: readonly Outcome<T>[],
  json: (value: T) => Json,
  {
    name,
    isList = outcomes.length !== 1,
  }: { name: 'audiofile' | 'invoice' | ((at: number) => Subject); isList?: boolean },
): Json {
  const subjectOf = (what: string, at: number): Subject =>
    typeof name === 'string' ? { [name]: what } : name(at);
  const all = outcomes.map((outcome, at) =>
    outcome.error ? failureJson(subjectOf(outcome.what, at), outcome.error) : json(outcome.value),
  );
  return isList ? all : (all[0] ?? null);
}

const failureJson = (subject: Subject, error: StenoError): Json =>
  new Map<string, Json>([...Object.entries(subject), ['error', errorJson(error)]]);
