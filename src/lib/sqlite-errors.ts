/** The errors of SQLite, told apart by their codes and made readable. */
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from './clock.ts';
import { diskReason, whyUnwritable } from './disk-reasons.ts';
import { errorMessage, StenoError } from './errors.ts';

/** SQLite's result codes. */
const BUSY = 5;
const LOCKED = 6;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANT_OPEN = 14;
const TOO_BIG = 18;
const CONSTRAINT = 19;
const MISMATCH = 20;
const NOT_A_DATABASE = 26;

export function readableError(path: string, error: unknown, hintIfDamaged?: () => string): unknown {
  if (error instanceof StenoError) return error;
  const code = primaryCode(error);
  const text = errorMessage(error);
  if (code === CORRUPT || code === NOT_A_DATABASE) {
    return new StenoError('failed', `${path} is damaged: ${text}`, {
      hint: hintIfDamaged?.() ?? 'nothing was written to it: move it away to start afresh',
      cause: error,
    });
  }
  if (isLocked(error)) {
    return new StenoError('failed', `${path} is locked by another process`, {
      hint: 'try again in a moment',
      cause: error,
    });
  }
  return diskError(path, code, error) ?? new StenoError('failed', `${path}: ${text}`, { cause: error });
}

/** SQLite's own text for these says nothing that a user can act on: 'disk I/O error'. */
function diskError(path: string, code: number | undefined, cause: unknown): StenoError | undefined {
  if (code === undefined || ![READ_ONLY, IO_ERROR, FULL, CANT_OPEN].includes(code)) return undefined;
  const why = whyUnwritable(path);
  if (!why) return undefined;
  // Never a new, empty folder: the ledger that is there knows what was ordered.
  const hint =
    why.code === 'ENOSPC'
      ? 'make room on it'
      : 'make its folder writable, or copy the folder elsewhere and name that with STENO_STATE_DIR';
  return new StenoError('failed', `can't write ${path}: ${diskReason(why)}`, { hint, cause });
}

/** The file is not what SQLite has written, or a part of it can't be read. */
export function isDamaged(error: unknown): boolean {
  const code = primaryCode(error instanceof StenoError ? error.cause : error);
  return code === CORRUPT || code === NOT_A_DATABASE || code === IO_ERROR;
}

/** The same, and not for want of room or because the disk fails for now. */
export function isCorrupt(error: unknown): boolean {
  const code = primaryCode(error instanceof StenoError ? error.cause : error);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

/** The values of a statement are not such as the table takes. */
export function isRefusedValue(error: unknown): boolean {
  const code = primaryCode(error instanceof StenoError ? error.cause : error);
  return code === CONSTRAINT || code === MISMATCH || code === TOO_BIG;
}

export function isLocked(error: unknown): boolean {
  const code = primaryCode(error instanceof StenoError ? error.cause : error);
  return code === BUSY || code === LOCKED;
}

/** The low byte of SQLite's code is the kind of error; the rest only refines it. */
function primaryCode(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : codesByText.get(errorMessage(error));
}

/** The driver of Node 20 leaves the code out where reading fails after the first rows; the texts are SQLite's own. */
const codesByText: ReadonlyMap<string, number> = new Map([
  ['database is locked', BUSY],
  ['disk I/O error', IO_ERROR],
  ['unable to open database file', CANT_OPEN],
  ['database disk image is malformed', CORRUPT],
  ['file is not a database', NOT_A_DATABASE],
]);

/**
 * Tries again while another process holds the database; between the tries signals are heard. The busy timeout would
 * block, and does not cover `journal_mode`, which fails when two processes open a new database at once.
 */
export async function untilFree(
  limitMs: number,
  signal: AbortSignal | undefined,
  work: () => void,
): Promise<void> {
  const deadline = monotonicMs() + limitMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isLocked(error) || monotonicMs() > deadline || signal?.aborted) throw error;
      await sleep(10 + Math.random() * 20);
    }
  }
}
