/** A home with a ledger, made once for each command and copied for each of its crash points; one service for all. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, inject } from 'vitest';
import { ledgerOf } from '../support/ledger.ts';
import { type Got, Service } from '../support/server.ts';
import { KEY, type Result, User } from '../support/steno.ts';
import { isShared, querySchema } from '../support/store.ts';

export const STORE = isShared ? 'a shared ledger' : 'the local ledger';

/** Every transcript of the service, long enough to come in several parts. */
export const transcriptText = (id: string, ext: string): string =>
  `${ext === 'docx' ? 'PK\u0003\u0004' : ''}transcript ${id}.${ext}\n${'word '.repeat(20_000)}\nend\n`;

/** At which moment of a request the service kills the program. */
export type Moment = 'received' | 'half answered' | 'answered';

interface Kill {
  /** Counted from 1, over all requests. */
  readonly request: number;
  readonly moment: Moment;
  kill(): void;
}

/** A service that numbers orders and files, and remembers what was bought. */
export class CrashService {
  readonly service: Service;
  killAt: Kill | undefined;
  #files = 0;
  #orders = 0;
  readonly #sold: Array<{ readonly url: string; readonly order: string; readonly file: string }> = [];
  readonly #changed: string[] = [];

  private constructor(service: Service) {
    this.service = service;
    service.allow('*', (got, response) => {
      const body = this.#answer(got);
      const kill = this.killAt?.request === service.got.length ? this.killAt : undefined;
      if (kill?.moment === 'received') return kill.kill();
      if (body === undefined) return void response.writeHead(404).end();
      if (kill?.moment !== 'half answered')
        return void response.end(body, () => kill?.moment === 'answered' && kill.kill());
      response.writeHead(200, { 'content-length': Buffer.byteLength(body) });
      response.write(body.slice(0, body.length / 2), () => kill.kill());
    });
  }

  static async start(): Promise<CrashService> {
    return new CrashService(await Service.start());
  }

  /** Forgets the requests of the point before. */
  begin(): void {
    this.service.got.length = 0;
    this.#sold.length = 0;
    this.#changed.length = 0;
    this.killAt = undefined;
  }

  /** What was bought, however often. */
  sold(url: string): ReadonlyArray<{ readonly order: string; readonly file: string }> {
    return this.#sold.filter((each) => each.url === url);
  }

  /** How often a file was upgraded or refunded: `POST /audiofile/1/refund`. */
  changed(route: string): number {
    return this.#changed.filter((each) => each === route).length;
  }

  #answer({ method, path, body }: Got): string | undefined {
    if (`${method} ${path}` === 'POST /order_url') return this.#sell((body?.url ?? []) as string[]);
    if (/^\/audiofile\/[^/]+\/(upgrade|refund)$/.test(path)) {
      this.#changed.push(`${method} ${path}`);
      return JSON.stringify({ message: 'done' });
    }
    const [, id = '', ext] = /^\/audiofile\/([^/]+)(?:\/transcript\.(\w+))?$/.exec(path) ?? [];
    if (!id) return undefined;
    if (ext !== undefined) return transcriptText(id, ext);
    return JSON.stringify({ audiofile: { id: Number(id), statename: 'Delivered', title: `Talk ${id}` } });
  }

  #sell(urls: readonly string[]): string {
    const order = `o${++this.#orders}`;
    const audiofiles = urls.map((url) => {
      this.#files += 1;
      this.#sold.push({ url, order, file: String(this.#files) });
      return this.#files;
    });
    return JSON.stringify({ order, audiofiles, message: 'ok' });
  }
}

let databases = 0;

/** None where the file is not there. */
function rowsOf<Row>(path: string, sql: string): Row[] {
  if (!existsSync(path)) return [];
  const db = new DatabaseSync(path);
  try {
    return db.prepare(sql).all() as Row[];
  } finally {
    db.close();
  }
}

const query = (sql: string): void =>
  void execFileSync('psql', ['-XAtq', '-d', inject('postgres'), '-c', sql], { encoding: 'utf8' });

export class Place {
  readonly user: User;
  /** Of the shared ledger; empty where there is none. */
  readonly url: string;
  readonly #database: string;

  private constructor(service: CrashService, database: string) {
    this.#database = database;
    this.url = database && inject('postgres').replace(/[^/]*$/, database);
    this.user = new User({
      STENO_API_KEY: KEY,
      STENO_BASE_URL: service.service.baseUrl,
      STENO_LEDGER: this.url || undefined,
    });
  }

  /** With an empty database of its own where the run has a shared ledger. */
  static create(service: CrashService): Place {
    const database = isShared ? nextDatabase() : '';
    if (database) query(`CREATE DATABASE ${database}`);
    return new Place(service, database);
  }

  copy(service: CrashService): Place {
    const database = this.#database && nextDatabase();
    if (database) query(`CREATE DATABASE ${database} TEMPLATE ${this.#database}`);
    const copy = new Place(service, database);
    if (!this.isShared) copy.useLocal();
    cpSync(this.user.home, copy.user.home, { recursive: true });
    return copy;
  }

  /** From now on its commands use the local ledger. */
  useLocal(): void {
    this.user.env.STENO_LEDGER = undefined;
  }

  useShared(): void {
    this.user.env.STENO_LEDGER = this.url;
  }

  /** Whether its commands use the shared ledger. */
  get isShared(): boolean {
    return Boolean(this.user.env.STENO_LEDGER);
  }

  remove(): void {
    if (this.#database) query(`DROP DATABASE ${this.#database} WITH (FORCE)`);
  }

  /** What lies below the state folder, without the ledger and what waits for it. */
  stateFiles(): string[] {
    const known = /^(ledger|waiting)\.db/;
    return filesBelow(this.user.env.STENO_STATE_DIR ?? '').filter((path) => !known.test(path));
  }

  /** How many deliveries wait for the ledger. */
  waiting(): number {
    const path = join(this.user.env.STENO_STATE_DIR ?? '', 'waiting.db');
    return rowsOf(path, "SELECT id FROM waiting WHERE kind = 'event'").length;
  }

  /** On a shared ledger a process that was killed keeps its lease for a while: this is as if that were over. */
  endLeases(): void {
    if (!this.isShared) return;
    const { url } = this;
    querySchema(
      url,
      "UPDATE purchases SET seen_at = '2020-01-01T00:00:00.000Z' WHERE status = 'sending'",
      [],
    );
    querySchema(url, "UPDATE runs SET seen_at = '2020-01-01T00:00:00.000Z' WHERE ended_at IS NULL", []);
  }

  /** Runs SQL on the ledger that its commands use. */
  readonly rows = <Row = Record<string, unknown>>(sql: string): Row[] =>
    this.isShared ? this.#sharedRows<Row>(sql) : this.localRows<Row>(sql);

  /** None where the command was killed before it made the tables. */
  #sharedRows<Row>(sql: string): Row[] {
    const made = "SELECT to_regclass('steno.purchases') IS NOT NULL AS made";
    const [found] = querySchema<{ made: boolean }>(this.url, made, []);
    return found?.made ? querySchema<Row>(this.url, sql, []) : [];
  }

  /** Runs SQL on the local ledger. */
  localRows<Row>(sql: string): Row[] {
    return rowsOf(ledgerOf(this.user), sql);
  }

  /** What SQLite says of the local ledger's file: `ok`. */
  integrity(): string {
    if (!existsSync(ledgerOf(this.user))) return 'ok';
    const found = this.localRows<{ integrity_check: string }>('PRAGMA integrity_check');
    return found.map(({ integrity_check: text }) => text).join('\n');
  }
}

/** Runs a command, which must end with one of these codes. */
export async function run(place: Place, args: readonly string[], codes: readonly number[]): Promise<Result> {
  const result = await place.user.run(args);
  expect(codes, `${args.join(' ')} then exits ${result.code}: ${result.stderr}`).toContain(result.code);
  return result;
}

const nextDatabase = (): string => {
  databases += 1;
  return `crash_${process.pid}_${databases}`;
};

/** Paths of all files below a folder, hidden ones included. */
export const filesBelow = (folder: string): string[] =>
  (
    readdirSync(folder, { recursive: true, withFileTypes: true }) as Array<{
      name: string;
      parentPath: string;
      isFile(): boolean;
    }>
  )
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name).slice(folder.length + 1))
    .sort();

export const contentOf = (...path: string[]): string => readFileSync(join(...path), 'utf8');
