/** The error of an element, and of `--json` on stderr. */
import { exitCodes } from '../lib/errors.ts';
import { described, integer, object, oneOf, text } from './schema.ts';

const kinds = Object.keys(exitCodes).filter((kind) => kind !== 'ok');

export const errorMembers = {
  code: described('the kind of failure, which gives the exit code', oneOf(...kinds)),
  message: described('what happened', text),
  status: described('the HTTP status, where the service answered with one', integer),
  hint: described('what to do about it', text),
};

export const errorSchema = object(errorMembers, ['status', 'hint']);
