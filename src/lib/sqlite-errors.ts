/** The errors of SQLite, told apart by their codes and made readable. */
import { errorMessage, StenoError } from './errors.ts';

/** SQLite's result codes. */
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

export function readableError(path: string, error: unknown): unknown {
  if (error instanceof StenoError) return error;
  const code = primaryCode(error);
  const text = errorMessage(error);
  if (code === CORRUPT || code === NOT_A_DATABASE) {
    return new StenoError('failed', `${path} is damaged: ${text}`, {
      hint: 'nothing was written to it: move it away to start afresh',
      cause: error,
    });
  }
  if (isLocked(error)) {
    return new StenoError('failed', `${path} is locked by another process`, {
      hint: 'try again in a moment',
      cause: error,
    });
  }
  return new StenoError('failed', `${path}: ${text}`, { cause: error });
}

export function isLocked(error: unknown): boolean {
  const code = primaryCode(error instanceof StenoError ? error.cause : error);
  return code === BUSY || code === LOCKED;
}

/** The low byte of SQLite's code is the kind of error; the rest only refines it. */
function primaryCode(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}
