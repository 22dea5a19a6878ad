/**
 * What the ledger can't take at the moment, on this machine: deliveries and outcomes of purchases, in one SQLite file
 * beside the ledger, synced with every commit. Whoever can write to the ledger moves its rows there, each once by its id.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorMessage, systemReason } from '../lib/errors.ts';
import { makeFolder } from '../lib/fs.ts';
import { accountName } from '../lib/names.ts';
import { isRunning, type ProcessMark, thisProcess } from '../lib/processes.ts';
import { type Database, isCorrupt, type Migration, openDatabase, type Value } from '../lib/sqlite.ts';
import { shellWord } from '../lib/text.ts';
import { holdsLease } from './lease.ts';
import type { Begun, NewPurchase, PlacedOrder, PurchaseSender } from './purchase.ts';

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

/** One kind of action on one target, such as a forward to a URL. */
export interface ActionKey {
  readonly kind: string;
  readonly target: string;
}

/** An action, and the events that it is done for. */
export interface ActionRule extends ActionKey {
  /** Absent: every event. */
  readonly events?: readonly string[];
}

/** What has to be done about the deliveries of a listener. */
export interface ListenerRules {
  readonly actions: readonly ActionRule[];
  /** The events that are shown and acted on; empty: all. */
  readonly only: readonly string[];
}

/** A listener whose deliveries wait. */
export interface WaitingOwner {
  readonly id: string;
  readonly rules: ListenerRules;
}

/** Deliveries that are moved in one transaction, which holds up the receiver for its length. */
export interface WaitingSlice {
  readonly arrivals: readonly Arrival[];
  /** The number of the last one. */
  readonly last: number;
}

export type PurchaseOutcome =
  | { readonly kind: 'placed'; readonly placed: PlacedOrder }
  | { readonly kind: 'done' }
  | { readonly kind: 'refused' | 'uncertain'; readonly detail: string };

export interface KeptOutcome {
  readonly begun: Begun;
  /** By the clock of the ledger. */
  readonly at: string;
  readonly sender: PurchaseSender;
  /** All of it: a ledger that was restored, or has failed over, may have lost it. */
  readonly purchase: NewPurchase;
  readonly outcome: PurchaseOutcome;
}

/** What can't be moved is told, and stays. */
export type OnTrouble = (text: string, hint?: string) => void | Promise<void>;

const migrations: readonly Migration[] = [
  {
    name: '001-waiting',
    // 'ledger': the one that an outcome is for. 'owner': the listener of an event; 'host' to 'kept_at': its process, which
    // moves it as long as it runs. 'content' is JSON; of an event, 'body' is apart from it.
    sql: `
      CREATE TABLE waiting (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL CHECK (kind IN ('event', 'outcome')),
        account TEXT NOT NULL,
        ledger TEXT NOT NULL,
        owner TEXT NOT NULL,
        host TEXT NOT NULL,
        pid INTEGER NOT NULL,
        start TEXT NOT NULL,
        kept_at TEXT NOT NULL,
        content TEXT NOT NULL,
        body BLOB NOT NULL
      );
      CREATE INDEX waiting_by_owner ON waiting (kind, account, owner, n);`,
  },
];

type Kind = 'event' | 'outcome';

interface Row {
  readonly id: string;
  readonly content: string;
  readonly body: Uint8Array;
}

/** In the folder of state. */
export const waitingPath = (folder: string): string => join(folder, 'waiting.db');

const SLICE = 500;
const SLICE_BYTES = 2 * 1024 * 1024;
/** Another process may be writing to the file, for a few milliseconds. */
const LOCK_WAIT_MS = 1_000;
/** A file that is empty and has more unused pages (16 MB) gives them back to the disk. */
const MAX_FREE_PAGES = 4_000;
/** What the file itself takes, and for each audio of a purchase the answer. */
const FILE_BYTES = 262_144;
const AUDIO_BYTES = 128;

export class Waiting {
  readonly path: string;
  readonly account: string;
  readonly #onTrouble: OnTrouble;
  readonly #ledger: () => string;
  readonly #process = thisProcess();
  #database: Database | undefined;
  #isUnusableSaid = false;

  /** `ledger` is asked when it is needed: which one it is, is known when it was reached. */
  constructor(
    path: string,
    account: string,
    onTrouble: OnTrouble = () => {},
    ledger: () => string = () => 'local',
  ) {
    this.path = path;
    this.account = accountName(account);
    this.#onTrouble = onTrouble;
    this.#ledger = ledger;
  }

  /** Adds deliveries; they are on disk when this resolves. */
  addEvents({ id: owner, rules }: WaitingOwner, arrivals: readonly Arrival[]): Promise<void> {
    const rows = arrivals.map(({ id, body, ...head }) => ({
      ...{ id, body, content: JSON.stringify({ ...head, rules }) },
    }));
    return this.#add('event', { owner, ledger: '' }, rows);
  }

  /** Some of the deliveries of a listener that came after the one with this number, oldest first. */
  async eventsOf(owner: WaitingOwner, after: number): Promise<WaitingSlice> {
    const db = await this.#openThere();
    if (!db) return { arrivals: [], last: after };
    const sizes = db.all<{ n: number; bytes: number }>(
      `SELECT n, length(body) AS bytes FROM waiting
       WHERE kind = 'event' AND account = ? AND owner = ? AND n > ? ORDER BY n LIMIT ?`,
      ...[this.account, owner.id, after, SLICE],
    );
    const last = lastWithin(sizes, SLICE_BYTES)?.n ?? after;
    const rows = this.#rows(db, 'event', 'owner = ? AND n > ? AND n <= ?', owner.id, after, last);
    return { arrivals: rows.map(arrivalOf), last };
  }

  /** The listeners of this account that are gone and have left deliveries. */
  async gone(): Promise<WaitingOwner[]> {
    const rows =
      (await this.#openThere())?.all<ProcessMark & { owner: string; keptAt: string; content: string }>(
        `SELECT owner, host, pid, start, max(kept_at) AS keptAt, content FROM waiting
         WHERE kind = 'event' AND account = ? GROUP BY owner ORDER BY min(n)`,
        this.account,
      ) ?? [];
    return rows
      .filter(({ keptAt, ...mark }) => !holdsLease({ ...mark, seenAt: keptAt }))
      .map(({ owner, content }) => ({ id: owner, rules: (JSON.parse(content) as WaitingOwner).rules }));
  }

  /** All deliveries of this account, oldest first. */
  async events(): Promise<Arrival[]> {
    const db = await this.#openThere();
    return db ? this.#rows(db, 'event', 'TRUE').map(arrivalOf) : [];
  }

  /** How many of a kind wait for this account; of events those of one listener, where it is given. */
  async count(kind: Kind, owner?: WaitingOwner): Promise<number> {
    const sql = `SELECT count(*) AS n FROM waiting WHERE kind = ? AND account = ? AND owner = coalesce(?, owner)`;
    const db = await this.#openThere();
    return db?.get<{ n: number }>(sql, kind, this.account, owner?.id ?? null)?.n ?? 0;
  }

  /** These are in the ledger. */
  async remove(ids: readonly string[]): Promise<void> {
    const db = ids.length ? await this.#openThere() : undefined;
    db?.run('DELETE FROM waiting WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(ids));
    const { freelist_count: free } = db?.get<{ freelist_count: number }>('PRAGMA freelist_count') ?? {};
    if (!db || (free ?? 0) < MAX_FREE_PAGES || db.get('SELECT 1 FROM waiting')) return;
    db.exec('PRAGMA incremental_vacuum');
    db.get('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  /** Deletes what listeners that are gone have left. */
  async removeGone(): Promise<void> {
    for (const { id } of await this.gone())
      (await this.#openThere())?.run("DELETE FROM waiting WHERE kind = 'event' AND owner = ?", id);
  }

  /** Makes room for the outcome of a purchase on a disk that gets full; not synced, because it only has to be there. */
  reserve(purchase: NewPurchase, id: string): void {
    const bytes = JSON.stringify(purchase).length * 2 + purchase.audios.length * AUDIO_BYTES + FILE_BYTES;
    makeFolder(dirname(this.path), 0o700);
    const piece = Buffer.alloc(FILE_BYTES, ' ');
    for (let left = bytes; left > 0; left -= piece.length)
      writeFileSync(this.#roomOf(id, process.pid), piece, { mode: 0o600, flag: 'a' });
  }

  /** Gives back the room; an outcome that is kept stays. */
  release(id: string): void {
    rmSync(this.#roomOf(id, process.pid), { force: true });
  }

  /** On disk when this resolves. */
  async keepOutcome(kept: KeptOutcome): Promise<void> {
    const { id } = kept.begun;
    const row = { id, content: JSON.stringify(kept), body: Buffer.alloc(0) };
    const add = (): Promise<void> => this.#add('outcome', { owner: '', ledger: this.#ledger() }, [row]);
    await add().catch(() => {
      // The disk may be full: what was reserved is free now.
      this.release(id);
      return add();
    });
    this.release(id);
  }

  /** Hands over the outcomes for a ledger; another process may do so at the same time, so `take` may see one twice. */
  async handOver(take: (kept: KeptOutcome) => Promise<void>): Promise<void> {
    this.#removeLeftRoom();
    for (const { id, content } of await this.#outcomes()) {
      try {
        await take(JSON.parse(content) as KeptOutcome);
        await this.remove([id]);
      } catch (error) {
        await this.#onTrouble(
          `the outcome of a purchase, saved in ${this.path}, could not be written to the ledger: ${systemReason(error)}`,
          'until then, the outcome of the purchase counts as unknown; see: steno attempts',
        );
      }
    }
    this.close();
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }

  /** Written again where the file was deleted meanwhile; one that is damaged is put aside. */
  async #add(
    kind: Kind,
    { owner, ledger }: { readonly owner: string; readonly ledger: string },
    rows: readonly Row[],
  ): Promise<void> {
    const { host, pid, start } = this.#process;
    const common = [kind, this.account, ledger, owner, host, pid, start, new Date().toISOString()];
    for (;;) {
      try {
        const db = await this.#open();
        insertInto(
          db,
          rows.map(({ id, content, body }) => [id, ...common, content, body]),
        );
        if (db.isInPlace()) return;
      } catch (error) {
        if (!isCorrupt(error) || !(await this.#putAside())) throw error;
      }
    }
  }

  /** Those for the ledger. What can't be read counts as unknown, and keeps nobody from the ledger. */
  async #outcomes(): Promise<Row[]> {
    try {
      return existsSync(this.path)
        ? this.#rows(await this.#open(), 'outcome', 'ledger = ?', this.#ledger())
        : [];
    } catch (error) {
      if (isCorrupt(error))
        await this.#onTrouble(
          `the outcomes of purchases that are not in the ledger yet can't be read: ${errorMessage(error)}`,
          'move the file away; the outcomes in it then count as unknown: steno attempts',
        );
      return [];
    }
  }

  #rows(db: Database, kind: Kind, where: string, ...values: Value[]): Row[] {
    const sql = `SELECT id, content, body FROM waiting WHERE kind = ? AND account = ? AND ${where} ORDER BY n`;
    return db.all<Row>(sql, kind, this.account, ...values);
  }

  /** Nothing is made where there is nothing to read; what can't be read is said once. */
  async #openThere(): Promise<Database | undefined> {
    if (!this.#database && !existsSync(this.path)) return undefined;
    try {
      return await this.#open();
    } catch (error) {
      if (!this.#isUnusableSaid)
        await this.#onTrouble(
          `can't open ${this.path}, which may contain events and outcomes that are not in the ledger yet: ${systemReason(error)}`,
          'make it readable and writable, or move it away',
        );
      this.#isUnusableSaid = true;
      return undefined;
    }
  }

  async #open(): Promise<Database> {
    const before = this.#database;
    if (before?.isInPlace()) return before;
    // Of a file that was deleted, what this process has written is still there for this process.
    const left = before ? writtenBy(before, this.#process) : [];
    this.close();
    const db = await openDatabase(this.path, migrations);
    db.setBusyTimeout(LOCK_WAIT_MS);
    db.syncEveryCommit();
    this.#database = db;
    if (left.length) insertInto(db, left);
    return db;
  }

  /** Makes room for a new one; false where there is nothing to move. */
  async #putAside(): Promise<boolean> {
    this.close();
    if (!existsSync(this.path)) return false;
    const kept = `${this.path}.damaged-${randomBytes(4).toString('hex')}`;
    for (const end of ['', '-wal', '-shm'])
      if (existsSync(this.path + end)) renameSync(this.path + end, kept + end);
    await this.#onTrouble(
      `${this.path} is damaged, and events and outcomes in it may be lost; saved as ${kept}`,
    );
    return true;
  }

  #roomOf(id: string, pid: number): string {
    return `${this.path}.room-${pid}-${id}`;
  }

  /** Of processes that were killed: the outcome of such a purchase is unclear. */
  #removeLeftRoom(): void {
    const folder = dirname(this.path);
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const [, pid] = name.startsWith(basename(this.path)) ? (/\.room-(\d+)-/.exec(name) ?? []) : [];
      if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(folder, name), { force: true });
    }
  }
}

const COLUMNS = 'id, kind, account, ledger, owner, host, pid, start, kept_at, content, body';

function insertInto(db: Database, rows: ReadonlyArray<readonly Value[]>): void {
  db.transaction(() => {
    for (const row of rows)
      db.run(
        `INSERT INTO waiting (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET content = excluded.content`,
        ...row,
      );
  });
}

function writtenBy(db: Database, { host, pid, start }: ProcessMark): Value[][] {
  const sql = `SELECT ${COLUMNS} FROM waiting WHERE host = ? AND pid = ? AND start = ? ORDER BY n`;
  try {
    return db.all<Record<string, Value>>(sql, host, pid, start).map((row) => Object.values(row));
  } catch {
    return [];
  }
}

function arrivalOf({ id, content, body }: Row): Arrival {
  const { rules: _, ...head } = JSON.parse(content) as Omit<Arrival, 'id' | 'body'> & WaitingOwner;
  return { ...head, id, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
}

/** The line that tells the ledger what only this process knows. */
export function howToRecord({ attempt }: Begun, outcome: PurchaseOutcome): string {
  const settle = `when the ledger is writable again, run: steno attempts settle ${attempt}`;
  if (outcome.kind === 'refused') return `${settle} --not-placed`;
  const { id = '', audiofiles = [] } = outcome.kind === 'placed' ? outcome.placed : {};
  if (!id) return 'until the ledger is writable again, its outcome is unknown; see: steno attempts';
  const files = audiofiles.map((file) => ` --file ${shellWord(file)}`);
  return `${settle} --placed ${shellWord(id)}${files.join('')}`;
}

/** The last of these rows up to which their bodies together take no more than this; the first one in any case. */
export function lastWithin<Row extends { readonly bytes: number }>(
  rows: readonly Row[],
  maxBytes: number,
): Row | undefined {
  let [last] = rows;
  let total = 0;
  for (const row of rows) {
    total += Number(row.bytes);
    if (total > maxBytes) break;
    last = row;
  }
  return last;
}
