/** The kinds of failure and their exit codes; the help and the README are made from this table. */

export const exitCodes = {
  ok: { code: 0, when: 'it worked; a held order is also 0 unless --fail-on-hold' },
  failed: { code: 1, when: 'the service refused, or anything without a code of its own' },
  usage: { code: 2, when: 'bad flag, argument, URL, SKU, id, manifest or config; nothing was sent' },
  auth: { code: 3, when: 'no key, or the service answered 401 or 403' },
  missing: { code: 4, when: 'the service answered 404' },
  held: { code: 5, when: 'the order is on hold, with --fail-on-hold or while waiting' },
  timeout: { code: 6, when: '--timeout of wait, listen or a request ran out' },
  network: { code: 7, when: 'could not reach the service or the shared ledger, or the connection broke' },
  unfinished: {
    code: 8,
    when: "a file ended without a transcript (Order Cancelled, Refunded, Error); steno keeps waiting on states it doesn't recognise",
  },
  duplicate: {
    code: 9,
    when: 'the ledger says that this was ordered before, or the outcome of an earlier try is unknown',
  },
  partial: { code: 10, when: 'a bulk command did some and failed some; each failure is listed' },
  uncertain: {
    code: 11,
    when: "no clear answer to an order, an upgrade or a refund that may have gone through (the connection broke after sending, or 408, 500, 502, 504, or an answer that can't be read): look before running it again",
  },
  interrupted: { code: 130, when: 'Ctrl-C; no half-written file is left' },
} as const;

export type Kind = Exclude<keyof typeof exitCodes, 'ok'>;

export interface Details {
  readonly hint?: string | undefined;
  /** The HTTP status, where the service answered with one. */
  readonly status?: number | undefined;
  readonly cause?: unknown;
  /** Further lines, after the message. */
  readonly more?: readonly string[] | undefined;
  /** What stands in the way of a purchase. */
  readonly duplicate?: Duplicate | undefined;
}

/** An earlier purchase of the same, for programs. */
export interface Duplicate {
  readonly reason: 'ordered' | 'unclear' | 'in_progress' | 'other_skus';
  /** Empty where none is known. */
  readonly order: string;
  readonly audiofiles: readonly string[];
  /** Its number. */
  readonly attempt: number;
}

/**
 * Why an audio is left out of an order. `renumbered`: it was ordered under another guid of its feed; `repeated`: it is in
 * the list twice; `transcript`: the feed offers one; `undated`: the feed does not say when it came out; `hidden`: its name or
 * folder begins with a dot; `linked`: a link to a folder; `unusable`: it can't be ordered.
 */
export const leftOutReasons = [
  ...(['ordered', 'unclear', 'in_progress', 'other_skus', 'renumbered', 'budget', 'ignored'] as const),
  ...(['repeated', 'transcript', 'undated', 'hidden', 'linked', 'unusable'] as const),
];
export type LeftOutReason = (typeof leftOutReasons)[number];

/** A failure as the user sees it: one line, and a hint where there is something to do. */
export class StenoError extends Error {
  readonly kind: Kind;
  readonly hint: string | undefined;
  readonly status: number | undefined;
  readonly more: readonly string[];
  readonly duplicate: Duplicate | undefined;

  constructor(kind: Kind, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'StenoError';
    this.kind = kind;
    this.hint = details.hint;
    this.status = details.status;
    this.more = details.more ?? [];
    this.duplicate = details.duplicate;
  }

  get exitCode(): number {
    return exitCodes[this.kind].code;
  }
}

export const usage = (message: string, hint?: string): StenoError =>
  new StenoError('usage', message, { hint });

/** Trouble with files of this machine, not with the service: asking again would not mend it. */
export class DiskError extends StenoError {
  constructor(message: string, details?: Details) {
    super('failed', message, details);
  }
}

export interface Failure {
  readonly what: string;
  readonly error: StenoError;
}

/** Some of a bulk command's items failed. */
export class BulkError extends StenoError {
  readonly failures: readonly Failure[];

  constructor(
    kind: Kind,
    message: string,
    failures: readonly Failure[],
    hint?: string,
    more?: readonly string[],
  ) {
    const { error } = failures.find((each) => each.error.kind === 'duplicate') ?? {};
    super(kind, message, { hint, more, duplicate: kind === 'duplicate' ? error?.duplicate : undefined });
    this.failures = failures;
  }
}

/** What failed for one and the same reason, such as a service that is down, is told once. */
export function onePerError(failures: readonly Failure[]): Failure[] {
  const byError = new Map<StenoError, string[]>();
  for (const { what, error } of failures) {
    const known = byError.get(error);
    if (known) known.push(what);
    else byError.set(error, [what]);
  }
  return [...byError].map(([error, [first = '', ...more]]) => ({
    what: more.length ? `${first} and ${more.length} more` : first,
    error,
  }));
}

/** Codes of the system in words: Node says 'ENOENT: no such file or directory, open x'. */
const systemReasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EEXIST: 'it already exists',
  EISDIR: 'it is a folder',
  ERR_FS_EISDIR: 'it is a folder',
  ENOTDIR: 'part of its path is not a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symlinks form a loop',
  EBUSY: 'it is in use',
  EIO: 'the disk failed',
  ENOMEM: 'there is not enough memory',
  EAGAIN: 'too many processes are running',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  EADDRINUSE: 'the port is in use',
  EADDRNOTAVAIL: 'this machine does not have that address',
};

/** Why the system refused, where the message names the file itself. */
export const systemReason = (error: unknown): string =>
  systemReasons[errorCode(error) ?? ''] ?? errorMessage(error);

/** The message of anything that was thrown. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { syscall, path, code = '' } = error as NodeJS.ErrnoException;
  if (syscall === 'uv_cwd') return 'the current folder was deleted';
  const reason = systemReasons[code];
  // A connection has an address in its message.
  if (syscall === undefined || reason === undefined || 'address' in error) return error.message;
  if (path === undefined) return reason;
  if (code !== 'ENOENT') return `${path}: ${reason}`;
  return `there is no ${syscall.startsWith('spawn') ? 'program' : 'file'} ${path}`;
}

/** The code of a system error, such as ENOENT; undefined for other errors. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

export function stackTrace(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackTrace(error.cause)}` : '';
  return (error.stack ?? error.message) + cause;
}
