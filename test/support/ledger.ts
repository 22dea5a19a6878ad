/** A user, a service that keeps orders and files, and the ledger itself as it lies on disk. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { WITH_AUDIO } from '../../src/ledger/pairing.ts';
import { type Account, account } from './account.ts';
import type { Got, Service } from './server.ts';
import type { Result, User } from './steno.ts';
import { isShared, querySchema } from './store.ts';

export const audio = (name: string): string => `https://example.com/${name}.mp3`;

export const ledgerOf = (user: User): string => join(user.env.STENO_STATE_DIR ?? '', 'ledger.db');

/** Runs SQL on the ledger, beside any process that has it open. */
export function queryLedger<Row = Record<string, unknown>>(
  user: User,
  sql: string,
  ...values: Array<string | number>
): Row[] {
  if (isShared) return querySchema<Row>(user.env.STENO_LEDGER ?? '', sql, values);
  const db = new DatabaseSync(ledgerOf(user));
  try {
    db.exec('PRAGMA busy_timeout = 5000');
    return db.prepare(sql).all(...values) as Row[];
  } finally {
    db.close();
  }
}

/** How a docx file begins: without it a text is not taken for one. */
export const ZIP_HEADER = 'PK\u0003\u0004';

export const statuses = (user: User): string[] =>
  queryLedger<{ status: string }>(user, 'SELECT status FROM purchases ORDER BY number').map(
    ({ status }) => status,
  );

export interface OrderingAccount extends Account {
  /** The states of each file: each request takes the next one, and the last one stays. */
  readonly states: Map<string, string[]>;
  order(...args: string[]): Promise<Result>;
  /** Ids of the files that the service was asked about, in order. */
  askedFiles(): string[];
  /** Transcripts that the service was asked for, as `1.txt`. */
  fetched(): string[];
}

/** A service that numbers its orders and files from 1; a file is delivered unless `states` says otherwise. */
export async function orderingAccount(
  env: Record<string, string | undefined> = {},
): Promise<OrderingAccount> {
  const { service, user } = await account(env);
  const states = new Map<string, string[]>();
  const links = new Map<string, string>();
  let files = 0;
  let orders = 0;
  service.allow('POST /order_url', (got, response) => {
    // `steno api` sends a single URL as a text.
    const audiofiles = ([got.body?.url ?? []].flat() as string[]).map((url) => {
      files += 1;
      links.set(String(files), url);
      return files;
    });
    reply(response, { order: `o${++orders}`, audiofiles, message: 'ok' });
  });
  service.allow('*', ({ path }, response) => {
    const [, id = '', transcript] = /^\/audiofile\/([^/]+)(\/transcript\.\w+)?$/.exec(path) ?? [];
    if (!id) return void response.writeHead(404).end();
    if (transcript) {
      const ext = transcript.slice('/transcript.'.length);
      return void response.end(`${ext === 'docx' ? ZIP_HEADER : ''}transcript ${id}.${ext}\n`);
    }
    const left = states.get(id) ?? ['Delivered'];
    const statename = left.length > 1 ? left.shift() : left[0];
    const audiofile = { id: Number(id), statename, title: `Talk ${id}` };
    reply(response, { audiofile: { ...audiofile, originallink: links.get(id) } });
  });
  return {
    service,
    user,
    states,
    order: (...args) => user.run(['order', '--sku', 'TRANS14', ...args]),
    askedFiles: () => found(service, /^\/audiofile\/([^/]+)$/, (match) => match[1] ?? ''),
    fetched: () =>
      found(service, /^\/audiofile\/([^/]+)\/transcript\.(\w+)$/, (match) => `${match[1]}.${match[2]}`),
  };
}

const found = (service: Service, path: RegExp, name: (match: RegExpExecArray) => string): string[] =>
  service.got.flatMap((got: Got) => {
    const match = path.exec(got.path);
    return match ? [name(match)] : [];
  });

export function reply(response: { end(text: string): unknown }, body: object): void {
  response.end(JSON.stringify(body));
}

export function folderIn(user: User, name: string): string {
  const folder = join(user.home, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The files of the ledger, each with the audio that it is of. */
export const FILES = `(SELECT files.*, coalesce(nullif(audios.url, ''), files.link) AS url, audios.key
  FROM files ${WITH_AUDIO}) AS paired`;

/** Puts many files into a ledger that was opened before, as if each had been ordered. */
export function fill(user: User, count: number): void {
  const db = new DatabaseSync(ledgerOf(user));
  const answer = JSON.stringify({
    audiofile: { id: 1, statename: 'Delivered', description: 'x'.repeat(400) },
  });
  db.exec(`
    PRAGMA busy_timeout = 5000; PRAGMA synchronous = OFF; BEGIN;
    CREATE TEMP TABLE n AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ${count}) SELECT i FROM c;
    INSERT INTO purchases (id, profile, kind, outcome, named, status, order_id, test, started_at, skus)
      SELECT 'P' || i, 'default', 'order', 'placed', 'O' || i, 'placed', 'O' || i, 0, '2026-01-01T00:00:00.000Z', 'TRANS14' FROM n;
    INSERT INTO purchase_items (purchase, position, profile, url, url_key, file, audio, known, bought_at, counted_at)
      SELECT 'P' || i, 0, 'default', 'https://bulk.example/O' || i, 'url https://bulk.example/O' || i,
        CAST(1000000 + i AS TEXT), 0, 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' FROM n;
    INSERT INTO item_names (profile, name, purchase, position, holds)
      SELECT 'default', 'url https://bulk.example/O' || i, 'P' || i, 0, 1 FROM n;
    INSERT INTO files (profile, id, purchase, order_id, link, test, state, ended, title, invoices, ordered_at, changed_at, checked_at, answer)
      SELECT 'default', CAST(1000000 + i AS TEXT), 'P' || i, 'O' || i, 'https://bulk.example/O' || i, 0, 'Delivered', 'delivered',
        'Talk ' || i, CASE WHEN i % 1000 = 0 THEN 'V' || i ELSE '' END, '2026-01-01T00:00:00.000Z', NULL, NULL, '${answer}' FROM n;
    COMMIT`);
  db.close();
}
