/** Several machines that share one ledger: a schema of its own, and users with separate homes. */
import type { PostgresServer } from './postgres.ts';
import type { Service } from './server.ts';
import { KEY, User } from './steno.ts';

let teams = 0;

export class Team {
  readonly url: string;
  readonly #schema: string;
  readonly #server: PostgresServer;
  readonly #env: Record<string, string>;

  private constructor(server: PostgresServer, env: Record<string, string>) {
    teams += 1;
    this.#server = server;
    this.#schema = `team_${teams}`;
    this.url = `postgres://postgres@127.0.0.1:${server.port}/postgres?schema=${this.#schema}`;
    this.#env = env;
  }

  /** With a service the machines have a key for it; without one they have no account. */
  static form(server: PostgresServer, service?: Service): Team {
    const account = service && { STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl };
    return new Team(server, { STENO_TEST_TICK_MS: '200', ...account });
  }

  /** A machine of the team; `port`: of what stands between it and the database. */
  machine(env: Record<string, string> = {}, port = this.#server.port): User {
    const url = this.url.replace(/:\d+\//, `:${port}/`);
    return new User({ ...this.#env, STENO_LEDGER: url, ...env });
  }

  query(sql: string): Promise<Record<string, unknown>[]> {
    return this.#server.query(sql.replaceAll('{}', this.#schema));
  }

  /** None as long as there is no such table. */
  async count(sql: string): Promise<number> {
    const isMissing = (error: { code?: string }): boolean => error.code === '42P01';
    const rows = await this.query(`SELECT count(*) AS n FROM ${sql}`).catch((error) => {
      if (isMissing(error)) return [];
      throw error;
    });
    return Number(rows[0]?.n ?? 0);
  }

  /** As if nothing had been heard of these listeners for longer than a lease lasts; `run`: SQL that selects them. */
  async silence(run: string): Promise<void> {
    await this.query(`UPDATE {}.runs SET seen_at = '2020-01-01T00:00:00.000Z' WHERE ${run}`);
  }
}
