/** One connection to a shared ledger. It keeps no state in its session, which a pooler may give to others. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { Client, QueryResult } from 'pg';
import { errorCode, errorMessage, StenoError, systemReason, usage } from '../../lib/errors.ts';
import type { PostgresAddress } from '../../lib/postgres-url.ts';
import { withoutNul } from '../../lib/text.ts';
import { formatDuration } from '../../lib/time.ts';
import { toPostgres } from './postgres-dialect.ts';
import { DatabaseError, GONE_HINT, type Value } from './store.ts';

// What a failure of the database means to a person; told apart by Postgres's codes, never by texts.

interface Explanation {
  readonly kind: 'failed' | 'network';
  readonly text: string;
  readonly hint?: string;
  /** The server's own words name what it is about. */
  readonly names?: boolean;
}

/** Where a password may come from, in the order in which they are asked. */
const PASSWORD_HINT =
  'it comes from the first of: the URL, PGPASSWORD, the setting ledger-password-command, ~/.pgpass; ' +
  'commands that steno runs do not inherit the first two';

const explanations: Readonly<Record<string, Explanation>> = {
  '28P01': { kind: 'failed', text: 'the password was refused', hint: PASSWORD_HINT },
  '28000': {
    kind: 'failed',
    text: 'the user was refused',
    hint: 'check pg_hba.conf on the server: it controls who may connect',
  },
  '3D000': {
    kind: 'failed',
    text: 'there is no such database',
    hint: `create it, or correct the setting ledger; ${GONE_HINT}`,
  },
  '42501': {
    kind: 'failed',
    text: 'the role lacks a privilege',
    names: true,
    hint: 'see the SQL that grants it: steno help shared-ledger',
  },
  '25006': { kind: 'failed', text: 'it is read-only: a standby', hint: 'name the primary server' },
  '53100': { kind: 'failed', text: 'its disk is full', hint: 'free space on the database server' },
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
      hint: 'check the shared ledger: steno doctor',
      cause: error,
    });
  return new DatabaseError('network', `can't reach ${subject}: ${errorMessage(error)}`, {
    hint: `nothing was sent; try again when it is reachable; ${GONE_HINT}`,
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

export interface ConnectOptions {
  readonly timeoutMs: number;
  /** A server that is silent for this long while a statement waits ends the connection. */
  readonly queryTimeoutMs: number;
  /** Asked at each connection: a password may be a token that is valid for minutes. */
  readonly password: () => Promise<string>;
}

const CLOSE_MS = 2_000;

/** The type of count(*) and of our ids: all of them are far below 2^53. */
const INT8 = 20;

export class PostgresConnection {
  readonly where: string;
  readonly #client: Client;
  readonly schema: string;
  readonly #translated = new Map<string, string>();
  #lost: unknown;
  readonly #silence: SilenceTimer;
  /** By how much the server's clock is ahead of ours: never more than it is. */
  clockAheadMs = 0;

  private constructor(client: Client, { host, port, schema }: PostgresAddress, queryTimeoutMs: number) {
    this.#client = client;
    this.#silence = new SilenceTimer(queryTimeoutMs, (limitMs) => {
      this.#lost ??= new Error(`no answer for ${formatDuration(limitMs)}`);
      streamOf(client).destroy();
    });
    this.schema = schema;
    this.where = `${host}:${port}`;
    // Without a listener a lost connection ends the program.
    client.on('error', (error) => {
      this.#lost ??= error;
    });
    client.on('end', () => {
      this.#lost ??= new Error('the connection was closed');
    });
  }

  static async open(address: PostgresAddress, options: ConnectOptions): Promise<PostgresConnection> {
    const { default: ClientClass } = await import('pg/lib/client.js');
    const { host, port, user, database } = address;
    // Before the time for the connection begins: a command may ask a person.
    const password = await options.password();
    const client: Client = new ClientClass({
      ...{ host, port, user, database, ssl: tlsOptions(address) },
      // Called only where the server asks for one.
      password: () => {
        if (!password) throw noPasswordError(`${host}:${port}`);
        return password;
      },
      connectionTimeoutMillis: options.timeoutMs,
      keepAlive: true,
      pipeline: true,
      enableChannelBinding: true,
    });
    // PGOPTIONS would be sent as a start-up parameter, which poolers refuse.
    (client as unknown as { connectionParameters: { options: string } }).connectionParameters.options = '';
    client.setTypeParser(INT8, Number);
    const connection = new PostgresConnection(client, address, options.queryTimeoutMs);
    try {
      await client.connect();
      // Not before: TLS puts another stream in its place.
      streamOf(client).on('data', () => connection.#silence.restart());
    } catch (error) {
      // The server waits a minute for a password that does not come.
      streamOf(client).destroy();
      throw ledgerError(connection.where, error);
    }
    return connection;
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** Statements that are sent without waiting for each other share a round trip. */
  async query<Row>(sql: string, values: readonly Value[] = []): Promise<QueryResult & { rows: Row[] }> {
    try {
      return await this.#silence.during(this.#client.query(this.#translate(sql), values.map(withoutNul)));
    } catch (error) {
      throw ledgerError(this.where, this.#lost ?? error);
    }
  }

  /** Runs several statements that take no values, as they are. */
  async script(sql: string): Promise<void> {
    try {
      await this.#client.query(sql);
    } catch (error) {
      throw ledgerError(this.where, this.#lost ?? error);
    }
  }

  limitSilence(milliseconds: number): void {
    this.#silence.limit(milliseconds);
  }

  /** A server that hangs is not waited for. */
  async close(): Promise<void> {
    if (this.isLost) return;
    const timer = setTimeout(() => streamOf(this.#client).destroy(), CLOSE_MS);
    await this.#client.end().catch(() => {});
    clearTimeout(timer);
  }

  #translate(sql: string): string {
    const known = this.#translated.get(sql);
    if (known !== undefined) return known;
    const translated = toPostgres(sql, this.schema);
    this.#translated.set(sql, translated);
    return translated;
  }
}

/** A host that vanished says nothing, and TCP notices that after a quarter of an hour. */
class SilenceTimer {
  #limitMs: number;
  readonly #onSilence: (limitMs: number) => void;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number, onSilence: (limitMs: number) => void) {
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
  }

  async during<Result>(statement: Promise<Result>): Promise<Result> {
    this.#waiting += 1;
    this.#timer ??= this.#start();
    try {
      return await statement;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) {
        clearTimeout(this.#timer);
        this.#timer = undefined;
      }
    }
  }

  restart(): void {
    this.#timer?.refresh();
  }

  /** From now on it is no longer than this. */
  limit(milliseconds: number): void {
    this.#limitMs = Math.min(this.#limitMs, milliseconds);
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => this.#onSilence(this.#limitMs), this.#limitMs);
  }
}

const streamOf = (client: Client): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

function tlsOptions({ tls, caFile, certFile, keyFile, host }: PostgresAddress): ConnectionOptions | false {
  if (tls === 'off') return false;
  const read = (name: string, path: string | undefined): Buffer | undefined => {
    try {
      return path ? readFileSync(path) : undefined;
    } catch (error) {
      throw usage(`can't read ${name} ${path}: ${systemReason(error)}`, 'the setting ledger names this file');
    }
  };
  return {
    rejectUnauthorized: tls === 'verified',
    servername: /^[\d.]+$|:/.test(host) ? undefined : host,
    ca: read('sslrootcert', caFile),
    cert: read('sslcert', certFile),
    key: read('sslkey', keyFile),
  } as ConnectionOptions;
}
