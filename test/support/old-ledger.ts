/** A ledger as an earlier version left it. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { migrations } from '../../src/ledger/schema.ts';
import { ledgerOf } from './ledger.ts';
import type { User } from './steno.ts';

/** Version 0.1.0 had the first two migrations. */
export const RELEASED = 2;

type Db = InstanceType<typeof DatabaseSync>;

/** Makes the ledger of a version that had this many migrations, and lets `fill` put rows into it. */
export function makeOldLedger(user: User, count: number, fill: (db: Db) => void): void {
  const path = ledgerOf(user);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  db.exec('CREATE TABLE migrations (name TEXT PRIMARY KEY, at TEXT NOT NULL)');
  for (const { name, sql = '' } of migrations.slice(0, count)) {
    db.exec(`${sql}; INSERT INTO migrations VALUES ('${name}', '2026-01-01T00:00:00.000Z')`);
  }
  db.exec('BEGIN');
  fill(db);
  db.exec('COMMIT');
  db.close();
}

interface OldAttempt {
  readonly urls: readonly string[];
  readonly status: 'sending' | 'placed' | 'refused' | 'uncertain';
  readonly order?: string;
  readonly detail?: string;
  readonly test?: boolean;
}

const AT = quoted('2026-01-01T00:00:00.000Z');

/** SQL without prepared statements: with them the driver would keep the file open. */
function quoted(value: string | null | undefined): string {
  return value === null || value === undefined ? 'NULL' : `'${value.replaceAll("'", "''")}'`;
}

export function addAttempt(db: Db, { urls, status, order, detail, test = false }: OldAttempt): void {
  db.exec(
    `INSERT INTO attempts (profile, status, test, started_at, order_id, detail)
     VALUES ('default', '${status}', ${Number(test)}, ${AT}, ${quoted(order)}, ${quoted(detail)})`,
  );
  for (const url of urls) {
    const key = new URL(url);
    key.hash = '';
    db.exec(
      `INSERT INTO attempt_urls (attempt, url, url_key)
       VALUES ((SELECT max(id) FROM attempts), ${quoted(url)}, ${quoted(key.href)})`,
    );
  }
}

export function addOrder(db: Db, id: string, notes = ''): void {
  db.exec(
    `INSERT INTO orders (profile, id, placed_at, skus, names, notes)
     VALUES ('default', ${quoted(id)}, ${AT}, 'TRANS14', '', ${quoted(notes)})`,
  );
}

export function addFile(db: Db, id: string, order: string, url: string, answer: object | null = null): void {
  db.exec(
    `INSERT INTO files (profile, id, order_id, url, test, state, ordered_at, answer)
     VALUES ('default', ${quoted(id)}, ${quoted(order)}, ${quoted(url)}, 0, 'Transcribing', ${AT},
       ${quoted(answer && JSON.stringify(answer))})`,
  );
}

export function addEvent(db: Db, body: Buffer): void {
  db.exec(
    `INSERT INTO events (profile, source, received_at, remote, content_type, body, event, version, audiofile, order_id)
     VALUES ('default', 'received', ${AT}, '', 'application/x-www-form-urlencoded', x'${body.toString('hex')}',
       'TRANSCRIPT_COMPLETE', '1', '1', 'o1')`,
  );
}

/** A run that has ended, with the webhook that it did not put back, if any; its number is 1, 2, … in turn. */
export function addRun(db: Db, webhook: string | null = null, former: string | null = null): void {
  db.exec(
    `INSERT INTO runs (profile, host, pid, started_at, seen_at, ended_at, webhook, former_webhook)
     VALUES ('default', 'elsewhere', 1, ${AT}, ${AT}, NULL, ${quoted(webhook)}, ${quoted(former)})`,
  );
}

/** For the event that was added last, of the first run. */
export function addAction(db: Db, kind: string, target: string, status = 'pending'): void {
  db.exec(
    `INSERT INTO actions (event, kind, target, run, status, updated_at)
     VALUES ((SELECT max(id) FROM events), ${quoted(kind)}, ${quoted(target)}, 1, '${status}', ${AT})`,
  );
}
