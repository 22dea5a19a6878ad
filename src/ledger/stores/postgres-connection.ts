/** One connection to a shared ledger. It keeps no state in its session, which a pooler may give to others. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { Client, QueryResult } from 'pg';
import { formatDuration } from '../../lib/duration.ts';
import { errorMessage, usage } from '../../lib/errors.ts';
import { withoutNul } from '../../lib/kept-text.ts';
import type { PostgresAddress } from '../../lib/postgres-url.ts';
import { toPostgres } from './postgres-dialect.ts';
import { ledgerError, noPasswordError } from './postgres-failures.ts';
import type { Value } from './store.ts';

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
      this.#lost ??= new Error(`it was silent for ${formatDuration(limitMs)}`);
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
      throw usage(`can't read ${name} ${path}: ${errorMessage(error)}`, 'it is named by the setting ledger');
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
