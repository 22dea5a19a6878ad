/** An error as `--json` shows it. */

import type { Failure, StenoError } from './errors.ts';
import { type Json, type JsonObject, toJson } from './json.ts';
import { cutSignatures } from './signatures.ts';
import { oneLine } from './text.ts';

const MAX_MESSAGE_LENGTH = 600;

/** `hide` masks secrets; signatures are cut out of links in any case. */
export function errorJson(error: StenoError, hide: (text: string) => string = String): JsonObject {
  const clean = (text: string): string => cutSignatures(hide(text));
  const { reason, order, audiofiles, attempt } = error.duplicate ?? {};
  return toJson({
    code: error.kind,
    message: oneLine(clean([error.message, ...error.more].join('; ')), MAX_MESSAGE_LENGTH),
    status: error.status,
    hint: error.hint === undefined ? undefined : clean(error.hint),
    reason,
    order: order === undefined ? undefined : order || null,
    audiofiles,
    attempt,
  }) as JsonObject;
}

/** The same with what failed one by one, where several did. */
export function failedJson(
  error: StenoError,
  failures: readonly Failure[],
  hide: (text: string) => string,
): JsonObject {
  const items = failures.map(
    ({ what, error: each }) =>
      new Map([['what', cutSignatures(hide(what)) as Json], ...errorJson(each, hide)]),
  );
  const object = errorJson(error, hide);
  return items.length ? object.set('failures', items) : object;
}
