/** One connection to a shared ledger. It keeps no state in its session, which a pooler may give to others. */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { Client, QueryResult } from 'pg';
import type { PostgresAddress } from '../../lib/postgres-url.ts';
import type { Value } from '../store.ts';
import { toParameter, toPostgres } from './dialect.ts';
import { ledgerError } from './failures.ts';

export interface ConnectOptions {
  readonly timeoutMs: number;
  /** A statement that is not answered for this long ends the connection; absent: it may take any time. */
  readonly queryTimeoutMs?: number;
  /** Asked at each connection: a password may be a token that is valid for minutes. */
  readonly password: () => Promise<string>;
}

/** The type of count(*) and of our ids: all of them are far below 2^53. */
const INT8 = 20;

export class PostgresConnection {
  readonly where: string;
  readonly #client: Client;
  readonly schema: string;
  readonly #translated = new Map<string, string>();
  #lost: unknown;
  /** By how much the server's clock is ahead of ours: never more than it is. */
  clockAheadMs = 0;

  private constructor(client: Client, { host, port, schema }: PostgresAddress) {
    this.#client = client;
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
    const client: Client = new ClientClass({
      ...{ host, port, user, database, ssl: tlsOptions(address) },
      password: options.password,
      connectionTimeoutMillis: options.timeoutMs,
      ...(options.queryTimeoutMs && { query_timeout: options.queryTimeoutMs }),
      keepAlive: true,
      pipeline: true,
      enableChannelBinding: true,
    });
    // PGOPTIONS would be sent as a start-up parameter, which poolers refuse.
    (client as unknown as { connectionParameters: { options: string } }).connectionParameters.options = '';
    client.setTypeParser(INT8, Number);
    const connection = new PostgresConnection(client, address);
    try {
      await client.connect();
    } catch (error) {
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
      return await this.#client.query(this.#translate(sql), values.map(toParameter));
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

  async close(): Promise<void> {
    // One that is lost has nothing to say good-bye to.
    if (!this.isLost) await this.#client.end().catch(() => {});
  }

  #translate(sql: string): string {
    const known = this.#translated.get(sql);
    if (known !== undefined) return known;
    const translated = toPostgres(sql, this.schema);
    this.#translated.set(sql, translated);
    return translated;
  }
}

function tlsOptions({ tls, caFile, certFile, keyFile, host }: PostgresAddress): ConnectionOptions | false {
  if (tls === 'off') return false;
  const read = (path: string | undefined): Buffer | undefined => (path ? readFileSync(path) : undefined);
  return {
    rejectUnauthorized: tls === 'verified',
    servername: /^[\d.]+$|:/.test(host) ? undefined : host,
    ca: read(caFile),
    cert: read(certFile),
    key: read(keyFile),
  } as ConnectionOptions;
}
