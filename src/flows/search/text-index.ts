/**
 * The index of all transcripts on this disk: a SQLite file of its own, which holds words and where they are, not the texts.
 * It can be deleted at any time, and is made anew where it is damaged or of another version.
 */
import { rmSync } from 'node:fs';
import { whyUnwritable } from '../../lib/fs.ts';
import { type Database, isLocked, openDatabase, openScratch, untilFree } from '../../lib/sqlite.ts';
import type { TranscriptOnDisk } from '../transcripts/on-disk.ts';
import { forIndex } from './words.ts';

const CREATE_PASSAGES =
  "CREATE VIRTUAL TABLE passages USING fts5(text, content='', contentless_delete=1, tokenize='ascii')";

/** An index that has another one, of a newer or an older version, is made anew. */
const migrations = [
  {
    name: 'search 1',
    sql: `CREATE TABLE files (id INTEGER PRIMARY KEY, profile TEXT NOT NULL, path TEXT NOT NULL, file TEXT NOT NULL,
        UNIQUE (profile, path));
      CREATE TABLE ledgers (profile TEXT PRIMARY KEY, mark TEXT NOT NULL);
      ${CREATE_PASSAGES};
      -- Speed: with more than SQLite's own 1 MB for new words, it merges less often.
      INSERT INTO passages (passages, rank) VALUES ('hashsize', 16777216)`,
  },
];

export interface IndexedFile extends TranscriptOnDisk {
  readonly id: number;
  /** Empty if it could not be read, and why. */
  readonly sha256: string;
  readonly trouble?: string;
}

/** The passages of a file that may match, by number. */
interface Found {
  readonly id: number;
  readonly passages: readonly number[];
}

/** No transcript has as many passages. */
const PASSAGES_PER_FILE = 65_536;
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

  /** By which the ledger is known again that was listed last. */
  get ledgerMark(): string | undefined {
    const sql = 'SELECT mark FROM ledgers WHERE profile = ?';
    return this.#db.get<{ mark: string }>(sql, this.#profile)?.mark;
  }

  set ledgerMark(mark: string) {
    this.#db.run('INSERT OR REPLACE INTO ledgers (profile, mark) VALUES (?, ?)', this.#profile, mark);
  }

  /** Speed: as one text, because a driver takes longer to hand over thousands of rows. */
  get files(): IndexedFile[] {
    const sql = "SELECT json_group_array(json_set(file, '$.id', id)) AS files FROM files WHERE profile = ?";
    return JSON.parse(this.#db.get<{ files: string }>(sql, this.#profile)?.files ?? '[]') as IndexedFile[];
  }

  /** Runs work that writes, in one transaction. Another process that writes is waited for; readers are not held up. */
  async writing(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    await untilFree(LOCK_LIMIT_MS, signal, () => this.#db.run('BEGIN IMMEDIATE'));
    try {
      this.#added = [];
      this.#nextId = Number(this.#db.get<{ id: number }>('SELECT max(id) AS id FROM files')?.id ?? 0) + 1;
      await work();
      const sql = `INSERT INTO files (id, profile, path, file)
        SELECT json_extract(value, '$.id'), ?, json_extract(value, '$.path'), value FROM json_each(?)`;
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
  put(file: Omit<IndexedFile, 'id'>, passages: readonly string[], before: IndexedFile | undefined): void {
    if (before) this.drop(before);
    const id = this.#nextId + this.#added.length;
    this.#added.push({ ...file, id });
    const first = id * PASSAGES_PER_FILE;
    const sql = 'INSERT INTO passages (rowid, text) VALUES (?, ?)';
    for (const [at, passage] of passages.entries()) this.#db.run(sql, first + at, forIndex(passage));
  }

  /** Unless it was moved. */
  drop({ id, path }: IndexedFile): void {
    if (!this.#db.run('DELETE FROM files WHERE id = ? AND path = ?', id, path)) return;
    const first = id * PASSAGES_PER_FILE;
    const sql = 'DELETE FROM passages WHERE rowid BETWEEN ? AND ?';
    this.#db.run(sql, first, first + PASSAGES_PER_FILE - 1);
  }

  /** Writes the log into the file, so that it takes no room of its own. */
  compact(): void {
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  /** What may match, of the newest file first; of all profiles. */
  find(query: string): Found[] {
    const rows = this.#db.all<{ id: number; passages: string }>(
      `SELECT rowid / ${PASSAGES_PER_FILE} AS id, json_group_array(rowid % ${PASSAGES_PER_FILE}) AS passages
       FROM passages WHERE passages MATCH ? GROUP BY 1 ORDER BY 1 DESC`,
      query,
    );
    return rows.map(({ id, passages }) => ({ id, passages: JSON.parse(passages) as number[] }));
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
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(path + end, { force: true });
}

/** Not while another process uses it: that one would remove the log of the next index when it ends. */
export async function forgetIndex(path: string): Promise<void> {
  try {
    const db = await openDatabase(path, migrations);
    // Takes a lock that no other process shares, and removes the log.
    db.exec('PRAGMA busy_timeout = 1000; PRAGMA journal_mode = DELETE');
    db.close();
  } catch (error) {
    if (isLocked(error)) throw error;
  }
  deleteIndex(path);
}

/** Some builds of SQLite have none. */
export async function hasFullTextSearch(): Promise<boolean> {
  const scratch = await openScratch();
  try {
    scratch.exec(CREATE_PASSAGES);
    return true;
  } catch {
    return false;
  } finally {
    scratch.close();
  }
}
