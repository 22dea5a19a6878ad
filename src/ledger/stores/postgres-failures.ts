/** What a failure of the database means to a person; told apart by Postgres's codes, never by texts. */
import { errorCode, errorMessage, StenoError } from '../../lib/errors.ts';
import { DatabaseError, GONE_HINT } from './store.ts';

interface Explanation {
  readonly kind: 'failed' | 'network';
  readonly text: string;
  readonly hint?: string;
  /** The server's own words name what it is about. */
  readonly names?: boolean;
}

/** Where a password may come from, in the order in which they are asked. */
const PASSWORD_HINT =
  'it comes from the URL, PGPASSWORD, the setting ledger-password-command or ~/.pgpass, the first that is there; ' +
  'a command that steno runs does not inherit the first two';

const explanations: Readonly<Record<string, Explanation>> = {
  '28P01': { kind: 'failed', text: 'the password was refused', hint: PASSWORD_HINT },
  '28000': {
    kind: 'failed',
    text: 'the user was refused',
    hint: 'pg_hba.conf on the server says who may connect',
  },
  '3D000': {
    kind: 'failed',
    text: 'there is no such database',
    hint: `make it, or correct the setting ledger; ${GONE_HINT}`,
  },
  '42501': {
    kind: 'failed',
    text: 'the role lacks a right',
    names: true,
    hint: 'steno help shared-ledger has the SQL that grants it',
  },
  '25006': { kind: 'failed', text: 'it only reads: a standby', hint: 'name the primary server' },
  '53100': { kind: 'failed', text: 'its disk is full', hint: 'make room on the server of the database' },
  '53300': { kind: 'network', text: 'it has too many connections', hint: 'try again in a moment' },
};

/** Codes of Node and of TLS, which the message alone would not explain. */
const certificateCodes = /^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|CERT_|ERR_TLS_|HOSTNAME_MISMATCH)/;

/** `where` is `host:port`, without a secret. */
export function ledgerError(where: string, error: unknown): StenoError {
  if (error instanceof StenoError) return error;
  const code = errorCode(error) ?? '';
  const known = explanations[code];
  const subject = `the shared ledger at ${where}`;
  if (known) {
    const what = known.names ? ` (${errorMessage(error)})` : '';
    return new DatabaseError(known.kind, `${subject}: ${known.text}${what}`, {
      hint: known.hint,
      cause: error,
    });
  }
  if (certificateCodes.test(code)) {
    return new DatabaseError(
      'network',
      `${subject}: its certificate is not trusted (${errorMessage(error)})`,
      {
        hint: 'name the CA with sslrootcert=<file> in the URL or PGSSLROOTCERT',
        cause: error,
      },
    );
  }
  // Five characters with a digit: Postgres answered, so it can be reached. 57P is a shutdown, 08 the connection.
  const answered = /^(?=.*\d)[0-9A-Z]{5}$/.test(code) && !/^(57P|08)/.test(code);
  if (answered)
    return new DatabaseError('failed', `${subject}: ${errorMessage(error)}`, {
      hint: 'steno doctor looks at the shared ledger',
      cause: error,
    });
  return new DatabaseError('network', `can't reach ${subject}: ${errorMessage(error)}`, {
    hint: `nothing was sent; try again when it is there; ${GONE_HINT}`,
    cause: error,
  });
}

/** The server asks for a password, and there is none. */
export const noPasswordError = (where: string): StenoError =>
  new DatabaseError('failed', `the shared ledger at ${where}: no password is set`, { hint: PASSWORD_HINT });

/** A statement of a batch did not change as many rows as it must: its check divides by zero. */
export const isUnexpected = (error: unknown): boolean => codeOf(error) === '22012';

/** The values of a statement are not such as the table takes, or two of its rows are the same. */
export const isRefusedRow = (error: unknown): boolean => /^(21|22|23)/.test(codeOf(error));

/** There is no such table, or no such schema. */
export const isMissingTable = (error: unknown): boolean => ['42P01', '3F000'].includes(codeOf(error));

/** Two transactions were in each other's way; one of them was undone and can be done again. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));

/**
 * The error is not about what was to be written: the server can't be reached, lets nobody in, has no room or only reads.
 * The classes are those of Postgres's codes.
 */
export const isAboutServer = (error: unknown): boolean =>
  (error instanceof DatabaseError && error.kind === 'network') ||
  /^(08|28|3D|53|57|58|25006|42501)/.test(codeOf(error));

const codeOf = (error: unknown): string => errorCode(error instanceof StenoError ? error.cause : error) ?? '';
