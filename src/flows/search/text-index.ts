/**
 * The index of all transcripts on this disk: a SQLite file of its own, which holds words and where they are, not the texts.
 * It can be deleted at any time, and is made anew where it is damaged or of another version.
 */
import { existsSync, rmSync } from 'node:fs';
import { StenoError, systemReason } from '../../lib/errors.ts';
import { whyUnwritable } from '../../lib/fs.ts';
import { type Database, isLocked, openDatabase, openScratch, untilFree } from '../../lib/sqlite.ts';
import type { TranscriptOnDisk } from '../transcripts/on-disk.ts';
import { forIndex } from './words.ts';

const CREATE_TEXTS =
  "CREATE VIRTUAL TABLE texts USING fts5(text, content='', contentless_delete=1, tokenize='ascii')";

/** An index that has another one, of a newer or an older version, is made anew. */
const migrations = [
  {
    name: 'search 3',
    sql: `CREATE TABLE files (id INTEGER PRIMARY KEY, profile TEXT NOT NULL, path TEXT NOT NULL, file TEXT NOT NULL,
        trouble TEXT, UNIQUE (profile, path));
      CREATE INDEX troubles ON files (profile) WHERE trouble IS NOT NULL;
      CREATE TABLE listings (profile TEXT PRIMARY KEY, ledger TEXT NOT NULL, files TEXT NOT NULL);
      ${CREATE_TEXTS};
      -- Speed: with more than SQLite's own 1 MB for new words, it merges less often.
      INSERT INTO texts (texts, rank) VALUES ('hashsize', 16777216)`,
  },
];

export interface IndexedFile extends TranscriptOnDisk {
  readonly id: number;
  /** Empty if it could not be read, and why. */
  readonly sha256: string;
  readonly trouble?: string;
}

/** What the index was made of. */
export interface Listing {
  /** By which the ledger is known again. */
  readonly ledger: string;
  readonly files: readonly (readonly [path: string, size: number, mtimeMs: number])[];
}

/** How long another process may index without a pause. */
const LOCK_LIMIT_MS = 60_000;

export class TextIndex {
  readonly #db: Database;
  readonly #profile: string;
  /** Speed: written at the end of a transaction, because FTS5 writes all new words out before any such statement. */
  #added: IndexedFile[] = [];
  #nextId = 0;

  constructor(db: Database, profile: string) {
    this.#db = db;
    this.#profile = profile;
  }

  close(): void {
    this.#db.close();
  }

  get listing(): Listing | undefined {
    const sql = 'SELECT ledger, files FROM listings WHERE profile = ?';
    const found = this.#db.get<{ ledger: string; files: string }>(sql, this.#profile);
    return found && { ledger: found.ledger, files: JSON.parse(found.files) as Listing['files'] };
  }

  set listing({ ledger, files }: Listing) {
    const sql = 'INSERT OR REPLACE INTO listings (profile, ledger, files) VALUES (?, ?, ?)';
    this.#db.run(sql, this.#profile, ledger, JSON.stringify(files));
  }

  get total(): number {
    const sql = 'SELECT count(*) AS total FROM files WHERE profile = ?';
    return Number(this.#db.get<{ total: number }>(sql, this.#profile)?.total);
  }

  get files(): IndexedFile[] {
    return this.#filesOf('FROM files WHERE profile = ?', this.#profile);
  }

  /** Those that can't be read. */
  get troubled(): IndexedFile[] {
    return this.#filesOf('FROM files WHERE profile = ? AND trouble IS NOT NULL', this.#profile);
  }

  /** Those that may match, the newest first. Speed: nearly in this order already, and their times are parsed anyway. */
  find(query: string): IndexedFile[] {
    const from = `FROM texts JOIN files ON files.id = texts.rowid
      WHERE texts MATCH ? AND files.profile = ? ORDER BY texts.rowid DESC`;
    return this.#filesOf(from, query, this.#profile).sort((one, other) =>
      one.downloadedAt > other.downloadedAt ? -1 : Number(one.downloadedAt < other.downloadedAt),
    );
  }

  #filesOf(from: string, ...values: string[]): IndexedFile[] {
    const rows = this.#db.all<{ id: number; file: string }>(`SELECT files.id, files.file ${from}`, ...values);
    return rows.map(({ id, file }) => ({ ...(JSON.parse(file) as IndexedFile), id }));
  }

  /** Runs work that writes, in one transaction. Another process that writes is waited for; readers are not held up. */
  async writing(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    await untilFree(LOCK_LIMIT_MS, signal, () => this.#db.run('BEGIN IMMEDIATE'));
    try {
      this.#added = [];
      this.#nextId = Number(this.#db.get<{ id: number }>('SELECT max(id) AS id FROM files')?.id ?? 0) + 1;
      await work();
      const sql = `INSERT INTO files (id, profile, path, file, trouble)
        SELECT value ->> 'id', ?, value ->> 'path', value, value ->> 'trouble' FROM json_each(?)`;
      this.#db.run(sql, this.#profile, JSON.stringify(this.#added));
      this.#db.run('COMMIT');
    } catch (error) {
      this.#db.rollBack();
      throw error;
    }
  }

  /** The same text at another path or time: nothing of it is indexed again. */
  move({ id, path }: IndexedFile, to: Omit<IndexedFile, 'id'>): boolean {
    const sql = 'UPDATE OR IGNORE files SET path = ?, file = ? WHERE id = ? AND path = ?';
    return this.#db.run(sql, to.path, JSON.stringify(to), id, path) === 1;
  }

  /** In the place of another at its path. */
  put(file: Omit<IndexedFile, 'id'>, words: string, before: IndexedFile | undefined): void {
    if (before) this.drop(before);
    const id = this.#nextId + this.#added.length;
    this.#added.push({ ...file, id });
    if (words) this.#db.run('INSERT INTO texts (rowid, text) VALUES (?, ?)', id, forIndex(words));
  }

  /** Unless it was moved. */
  drop({ id, path }: IndexedFile): void {
    if (this.#db.run('DELETE FROM files WHERE id = ? AND path = ?', id, path))
      this.#db.run('DELETE FROM texts WHERE rowid = ?', id);
  }

  /** Writes the log into the file, so that it takes no room of its own. */
  compact(): void {
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }
}

/** Opens the index, or makes it. What is no index of this version is deleted first. */
export async function openIndex(path: string, profile: string, signal: AbortSignal): Promise<TextIndex> {
  const open = async () => new TextIndex(await openDatabase(path, migrations, { signal }), profile);
  return open().catch((error: unknown) => {
    if (isLocked(error) || whyUnwritable(path) || signal.aborted) throw error;
    deleteIndex(path);
    return open();
  });
}

export function deleteIndex(path: string): void {
  try {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(path + end, { force: true });
  } catch (error) {
    throw new StenoError('failed', `the index ${path} can't be deleted: ${systemReason(error)}`, {
      cause: error,
    });
  }
}

/** Not while another process uses it: that one would remove the log of the next index when it ends. False: there is none. */
export async function forgetIndex(path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  try {
    const db = await openDatabase(path, migrations);
    // Takes a lock that no other process shares, and removes the log.
    db.exec('PRAGMA busy_timeout = 1000; PRAGMA journal_mode = DELETE');
    db.close();
  } catch (error) {
    if (isLocked(error)) throw error;
  }
  deleteIndex(path);
  return true;
}

/** Some builds of SQLite have none. */
export async function hasFullTextSearch(): Promise<boolean> {
  const scratch = await openScratch();
  try {
    scratch.exec(CREATE_TEXTS);
    return true;
  } catch {
    return false;
  } finally {
    scratch.close();
  }
}
