/** An error as `--json` shows it. */
import type { StenoError } from './errors.ts';
import { type JsonObject, toJson } from './json.ts';
import { oneLine } from './text.ts';

const MAX_MESSAGE_LENGTH = 600;

export const errorJson = (error: StenoError, hide: (text: string) => string = String): JsonObject =>
  toJson({
    code: error.kind,
    message: oneLine(hide([error.message, ...error.more].join('; ')), MAX_MESSAGE_LENGTH),
    status: error.status,
    hint: error.hint,
  }) as JsonObject;
