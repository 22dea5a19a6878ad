/**
 * Deliveries on this machine that the ledger could not take yet, in a SQLite file beside it. Every listener of a state
 * folder writes to the same file, and takes over what listeners that are gone have left.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { systemReason } from '../lib/errors.ts';
import { accountName } from '../lib/names.ts';
import { type ProcessMark, thisProcess } from '../lib/processes.ts';
import { type Database, isCorrupt, type Migration, openDatabase, type Value } from '../lib/sqlite.ts';
import type { ActionRule } from './actions.ts';
import { lastWithin } from './events.ts';
import { holdsLease, isSilent } from './lease.ts';
import { jsonList } from './table.ts';

/** A delivery as it is kept: without secrets. */
export interface Arrival {
  /** Made when it came in; never used again. */
  readonly id: string;
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly remote: string;
  readonly contentType: string;
  /** It came while its listener waited for a test event of this kind. */
  readonly mayBeTest: boolean;
  /** The listeners that it has passed. */
  readonly via: string;
  readonly body: Buffer;
}

/** What has to be done about the deliveries of a listener. */
export interface ListenerRules {
  readonly actions: readonly ActionRule[];
  /** The events that are shown and acted on; empty: all. */
  readonly only: readonly string[];
}

/** A listener that has deliveries in the spool. */
export interface SpoolOwner {
  readonly id: string;
  readonly rules: ListenerRules;
}

/** Deliveries that are moved in one transaction, which holds up the receiver for its length. */
export interface SpoolSlice {
  readonly arrivals: readonly Arrival[];
  /** The number of the last one. */
  readonly last: number;
}

const SLICE = 500;
const SLICE_BYTES = 2 * 1024 * 1024;

export const spoolMigrations: readonly Migration[] = [
  {
    name: '001-spool',
    sql: `
      CREATE TABLE listeners (
        id TEXT PRIMARY KEY,
        profile TEXT NOT NULL,
        host TEXT NOT NULL,
        pid INTEGER NOT NULL,
        start TEXT NOT NULL,
        seen_at TEXT NOT NULL,
        rules TEXT NOT NULL
      ) WITHOUT ROWID;

      CREATE TABLE arrivals (
        seq INTEGER PRIMARY KEY,
        listener TEXT NOT NULL REFERENCES listeners (id),
        id TEXT NOT NULL UNIQUE,
        received_at TEXT NOT NULL,
        remote TEXT NOT NULL,
        content_type TEXT NOT NULL,
        may_be_test INTEGER NOT NULL,
        via TEXT NOT NULL,
        body BLOB NOT NULL
      );
      CREATE INDEX arrivals_by_listener ON arrivals (listener, seq);`,
  },
];

interface ArrivalRow extends Omit<Arrival, 'mayBeTest' | 'body'> {
  readonly mayBeTest: number;
  readonly body: Uint8Array;
}

interface ListenerRow extends ProcessMark {
  readonly id: string;
  readonly seen_at: string;
  readonly rules: string;
}

type OnWarning = (text: string, hint?: string) => void;

/** A spool that is empty and has more unused pages (16 MB) gives them back to the disk. */
const MAX_FREE_PAGES = 4_000;

export class Spool {
  readonly path: string;
  readonly profile: string;
  readonly #onWarning: OnWarning;
  readonly #process = thisProcess();
  #database: Database | undefined;
  /** Who writes with this object. */
  #own: SpoolOwner | undefined;
  #isUnusableSaid = false;

  constructor(path: string, profile: string, onWarning: OnWarning = () => {}) {
    this.path = path;
    this.profile = accountName(profile);
    this.#onWarning = onWarning;
  }

  /** Adds deliveries; they are on disk when this resolves. */
  async append(owner: SpoolOwner, arrivals: readonly Arrival[]): Promise<void> {
    this.#own = owner;
    for (;;) {
      try {
        const db = await this.#open();
        this.#insert(db, owner, arrivals);
        // The file was deleted meanwhile: write them again.
        if (db.isInPlace()) return;
      } catch (error) {
        if (!isCorrupt(error) || !this.#moveAway()) throw error;
      }
    }
  }

  /** Some of the deliveries of a listener that came after the one with this number, oldest first. */
  async next(owner: SpoolOwner, after: number): Promise<SpoolSlice> {
    const db = await this.#openThere();
    if (!db) return { arrivals: [], last: after };
    const sizes = db.all<{ seq: number; bytes: number }>(
      'SELECT seq, length(body) AS bytes FROM arrivals WHERE listener = ? AND seq > ? ORDER BY seq LIMIT ?',
      ...[owner.id, after, SLICE],
    );
    const last = lastWithin(sizes, SLICE_BYTES)?.seq ?? after;
    return {
      arrivals: readArrivals(db, 'listener = ? AND seq > ? AND seq <= ?', owner.id, after, last),
      last,
    };
  }

  /** These are in the ledger. */
  async remove(arrivals: readonly Arrival[]): Promise<void> {
    const db = await this.#openThere();
    if (!db || arrivals.length === 0) return;
    const ids = jsonList(arrivals.map(({ id }) => id));
    db.run('DELETE FROM arrivals WHERE id IN (SELECT value FROM json_each(?))', ids);
    const { freelist_count: free } = db.get<{ freelist_count: number }>('PRAGMA freelist_count') ?? {};
    if ((free ?? 0) < MAX_FREE_PAGES || db.get('SELECT 1 FROM arrivals')) return;
    db.exec('PRAGMA incremental_vacuum');
    db.get('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  /** How many deliveries of a listener wait. */
  async count(owner: SpoolOwner): Promise<number> {
    const sql = 'SELECT count(*) AS n FROM arrivals WHERE listener = ?';
    return (await this.#openThere())?.get<{ n: number }>(sql, owner.id)?.n ?? 0;
  }

  /** Shows other processes that a listener is there. */
  async touch(owner: SpoolOwner): Promise<void> {
    const db = await this.#openThere();
    db?.run('UPDATE listeners SET seen_at = ? WHERE id = ?', new Date().toISOString(), owner.id);
  }

  /** The listeners of this profile that are gone and have left deliveries. */
  async left(): Promise<SpoolOwner[]> {
    const db = await this.#openThere();
    const rows = db?.all<ListenerRow>('SELECT * FROM listeners WHERE profile = ?', this.profile) ?? [];
    return rows.flatMap((row) => {
      if (isThere(row)) return [];
      const { id, rules } = row;
      if (db?.get('SELECT 1 FROM arrivals WHERE listener = ?', id))
        return [{ id, rules: JSON.parse(rules) as ListenerRules }];
      db?.run('DELETE FROM listeners WHERE id = ?', id);
      return [];
    });
  }

  /** How many deliveries of this profile wait, of listeners that run or ran. */
  async countAll(): Promise<number> {
    const sql = `SELECT count(*) AS n FROM arrivals JOIN listeners ON listeners.id = listener WHERE profile = ?`;
    return (await this.#openThere())?.get<{ n: number }>(sql, this.profile)?.n ?? 0;
  }

  /** All of them, oldest first. */
  async arrivals(): Promise<Arrival[]> {
    const db = await this.#openThere();
    return db ? readArrivals(db, 'profile = ?', this.profile) : [];
  }

  /** Deletes what listeners that are gone have left. */
  async removeLeft(): Promise<void> {
    const db = await this.#openThere();
    for (const { id } of await this.left()) db?.run('DELETE FROM arrivals WHERE listener = ?', id);
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }

  /** Nothing is made where there is nothing to read; what can't be read is said once. */
  async #openThere(): Promise<Database | undefined> {
    if (!this.#database && !existsSync(this.path)) return undefined;
    try {
      return await this.#open();
    } catch (error) {
      if (!this.#isUnusableSaid)
        this.#onWarning(
          `can't open ${this.path}, which may contain events that are not in the ledger yet: ${systemReason(error)}`,
          'make it readable and writable, or move it away',
        );
      this.#isUnusableSaid = true;
      return undefined;
    }
  }

  async #open(): Promise<Database> {
    const before = this.#database;
    if (before?.isInPlace()) return before;
    const db = await openDatabase(this.path, spoolMigrations);
    db.setBusyTimeout(LOCK_WAIT_MS);
    db.syncEveryCommit();
    this.#database = db;
    if (before) this.#rescue(before, db);
    return db;
  }

  /** Makes room for a new one; false where there is nothing to move. */
  #moveAway(): boolean {
    this.close();
    if (!existsSync(this.path)) return false;
    const kept = `${this.path}.damaged-${randomBytes(4).toString('hex')}`;
    for (const end of ['', '-wal', '-shm'])
      if (existsSync(this.path + end)) renameSync(this.path + end, kept + end);
    this.#onWarning(`${this.path} is damaged, and events may be lost; saved as ${kept}`);
    return true;
  }

  /** Of a file that was deleted, what this process has written is still there for this process. */
  #rescue(from: Database, to: Database): void {
    const owner = this.#own;
    try {
      const arrivals = owner ? readArrivals(from, 'listener = ?', owner.id) : [];
      if (owner && arrivals.length) this.#insert(to, owner, arrivals);
    } finally {
      from.close();
    }
  }

  #insert(db: Database, { id: listener, rules }: SpoolOwner, arrivals: readonly Arrival[]): void {
    const { host, pid, start } = this.#process;
    db.transaction(() => {
      db.run(
        `INSERT INTO listeners (id, profile, host, pid, start, seen_at, rules) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
        ...[listener, this.profile, host, pid, start, new Date().toISOString(), JSON.stringify(rules)],
      );
      for (const { id, receivedAt, remote, contentType, mayBeTest, via, body } of arrivals)
        db.run(
          `INSERT INTO arrivals (listener, id, received_at, remote, content_type, may_be_test, via, body)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
          ...[listener, id, receivedAt, remote, contentType, Number(mayBeTest), via, body],
        );
    });
  }
}

/** Another listener writes to the same file, for some milliseconds. */
const LOCK_WAIT_MS = 1_000;

/** A listener that is there and silent (stopped by Ctrl-Z) loses nothing when its deliveries are moved by another. */
const isThere = ({ seen_at, ...mark }: ListenerRow): boolean =>
  !isSilent(seen_at) && holdsLease({ ...mark, seenAt: seen_at });

function readArrivals(db: Database, where: string, ...values: Value[]): Arrival[] {
  const rows = db.all<ArrivalRow>(
    `SELECT arrivals.id, received_at AS receivedAt, remote, content_type AS contentType, may_be_test AS mayBeTest,
       via, body
     FROM arrivals JOIN listeners ON listeners.id = listener WHERE ${where} ORDER BY seq`,
    ...values,
  );
  return rows.map(({ mayBeTest, body, ...row }) => ({
    ...row,
    mayBeTest: mayBeTest === 1,
    body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
  }));
}
