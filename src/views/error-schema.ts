/** The error of an element, and of `--json` on stderr. */
import { errorJson } from '../lib/error-json.ts';
import { exitCodes, type StenoError } from '../lib/errors.ts';
import type { Field } from './record.ts';
import { arrayOf, described, integer, maybeText, object, oneOf, text } from './schema.ts';

const kinds = Object.keys(exitCodes).filter((kind) => kind !== 'ok');

export const errorMembers = {
  code: described('the kind of failure, which gives the exit code', oneOf(...kinds)),
  message: described('what happened', text),
  status: described('the HTTP status, where the service answered with one', integer),
  hint: described('what to do about it', text),
  reason: described(
    'exit 9: what became of the earlier one; or it has other SKUs',
    oneOf('ordered', 'unclear', 'in_progress', 'other_skus'),
  ),
  order: described('exit 9: its order, where one is known', maybeText),
  audiofiles: described('exit 9: its files, where they are known', arrayOf(text)),
  attempt: described('exit 9: its number, for attempts settle', integer),
};

/** Those that not every error has. */
export const optionalErrorMembers = ['status', 'hint', 'reason', 'order', 'audiofiles', 'attempt'];

export const errorSchema = object(errorMembers, optionalErrorMembers);

/** Why an element failed; one that did not fail has no such member, and no column shows it. */
export const errorField = <T>(error: (value: T) => StenoError | undefined): Field<T> => ({
  name: 'error',
  help: 'why it failed; absent where it did not',
  schema: errorSchema,
  json: (value) => {
    const failure = error(value);
    return failure ? errorJson(failure) : null;
  },
  cell: false,
  optional: true,
});
