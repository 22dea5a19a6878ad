/**
 * The index of all transcripts on this disk: a SQLite file of its own, which holds words and where they are, not the texts.
 * It can be deleted at any time, and is made anew where it is damaged or of another version.
 */
import { rmSync } from 'node:fs';
import { StenoError } from '../../lib/errors.ts';
import { whyUnwritable } from '../../lib/fs.ts';
import { type Database, isLocked, openDatabase, openScratch, untilFree } from '../../lib/sqlite.ts';
import type { ReadableFormat } from '../../transcripts/model.ts';
import type { TranscriptContent } from '../../transcripts/read.ts';
import { passagesOf, sentencesOf } from './sentences.ts';
import { forIndex } from './words.ts';

/** Speed: with SQLite's own 1 MB for new words, merging takes half of the time. */
const NEW_WORDS_BYTES = 16 * 1024 * 1024;

const CREATE_PASSAGES =
  "CREATE VIRTUAL TABLE passages USING fts5(text, content='', contentless_delete=1, tokenize='ascii')";

/** An index that has another one, of a newer or an older version, is made anew. */
const migrations = [
  {
    name: 'search 1',
    sql: `CREATE TABLE files (id INTEGER PRIMARY KEY, profile TEXT NOT NULL, path TEXT NOT NULL, format TEXT NOT NULL,
        size INTEGER NOT NULL, mtime INTEGER NOT NULL, sha256 TEXT NOT NULL, trouble TEXT NOT NULL, audiofile TEXT NOT NULL,
        title TEXT NOT NULL, downloaded_at TEXT NOT NULL, UNIQUE (profile, path));
      CREATE TABLE ledgers (profile TEXT PRIMARY KEY, mark TEXT NOT NULL);
      ${CREATE_PASSAGES};
      INSERT INTO passages (passages, rank) VALUES ('hashsize', ${NEW_WORDS_BYTES})`,
  },
];

/** A transcript as the ledger and the disk have it now. */
export interface FoundFile {
  readonly path: string;
  readonly format: ReadableFormat;
  readonly size: number;
  /** In whole milliseconds. */
  readonly mtimeMs: number;
  readonly audiofile: string;
  readonly title: string;
  readonly downloadedAt: string;
}

export interface IndexedFile extends FoundFile {
  readonly id: number;
  readonly sha256: string;
  /** Why it could not be read; empty if it was. */
  readonly trouble: string;
}

/** Passages of a file that may match, by number. */
export interface Candidate {
  readonly file: number;
  readonly passages: ReadonlySet<number>;
}

/** No transcript has as many passages. */
const PASSAGES_PER_FILE = 65_536;
/** How long another process may index without a pause. */
const LOCK_LIMIT_MS = 60_000;
const ROWS_A_PAGE = 10_000;

export class TextIndex {
  readonly #db: Database;
  readonly #profile: string;

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
    const row = this.#db.get<{ files: string }>(
      `SELECT json_group_array(json_object('id', id, 'path', path, 'format', format, 'size', size, 'mtimeMs', mtime,
         'sha256', sha256, 'trouble', trouble, 'audiofile', audiofile, 'title', title, 'downloadedAt', downloaded_at))
         AS files FROM files WHERE profile = ?`,
      this.#profile,
    );
    return JSON.parse(row?.files ?? '[]') as IndexedFile[];
  }

  /** Runs work that writes, in one transaction. Another process that writes is waited for; readers are not held up. */
  async writing(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const db = this.#db;
    await untilFree(LOCK_LIMIT_MS, signal, () => db.run('BEGIN IMMEDIATE'));
    try {
      await work();
      db.run('COMMIT');
    } catch (error) {
      db.rollBack();
      throw error;
    }
  }

  /** Whether this very file is in the index: another process may have been faster. */
  has({ path, size, mtimeMs }: FoundFile): boolean {
    const sql = 'SELECT 1 FROM files WHERE profile = ? AND path = ? AND size = ? AND mtime = ?';
    return this.#db.get(sql, this.#profile, path, size, mtimeMs) !== undefined;
  }

  /** The same text at another path: nothing of it is indexed again. */
  move({ id, sha256 }: IndexedFile, to: FoundFile): boolean {
    return (
      this.#db.run(
        `UPDATE OR IGNORE files SET path = ?, format = ?, size = ?, mtime = ?, audiofile = ?, title = ?, downloaded_at = ?
         WHERE id = ? AND sha256 = ?`,
        ...[to.path, to.format, to.size, to.mtimeMs, to.audiofile, to.title, to.downloadedAt, id, sha256],
      ) === 1
    );
  }

  put(file: FoundFile, { text, sha256 }: Pick<TranscriptContent, 'text' | 'sha256'>): void {
    const first = this.#keep(file, sha256, '') * PASSAGES_PER_FILE;
    const sentences = sentencesOf(text);
    passagesOf(sentences).forEach(([from, to], at) => {
      const words = sentences.slice(from, to).map((each) => each.text);
      this.#db.run(
        'INSERT INTO passages (rowid, text) VALUES (?, ?)',
        first + at,
        forIndex(words.join('\n')),
      );
    });
  }

  /** One that can't be read is not tried again until it changes. */
  putTrouble(file: FoundFile, trouble: string): void {
    this.#keep(file, '', trouble);
  }

  #keep({ path, format, size, mtimeMs, audiofile, title, downloadedAt }: FoundFile, ...is: string[]): number {
    const row = this.#db.get<{ id: number }>(
      `INSERT INTO files (profile, path, format, size, mtime, audiofile, title, downloaded_at, sha256, trouble)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (profile, path) DO UPDATE SET format = excluded.format, size = excluded.size, mtime = excluded.mtime,
         sha256 = excluded.sha256, trouble = excluded.trouble, audiofile = excluded.audiofile, title = excluded.title,
         downloaded_at = excluded.downloaded_at
       RETURNING id`,
      ...[this.#profile, path, format, size, mtimeMs, audiofile, title, downloadedAt, ...is],
    );
    const id = Number(row?.id);
    this.#dropPassages(id);
    return id;
  }

  /** Unless it is at another path by now. */
  drop({ id, path }: IndexedFile): void {
    if (this.#db.run('DELETE FROM files WHERE id = ? AND path = ?', id, path)) this.#dropPassages(id);
  }

  /** Writes the log into the file, so that it takes no room of its own. */
  compact(): void {
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  #dropPassages(id: number): void {
    const first = id * PASSAGES_PER_FILE;
    const sql = 'DELETE FROM passages WHERE rowid BETWEEN ? AND ?';
    this.#db.run(sql, first, first + PASSAGES_PER_FILE - 1);
  }

  /** What may match, of the newest file first. */
  *candidates(query: string): Generator<Candidate> {
    let below = Number.MAX_SAFE_INTEGER;
    let file = -1;
    let passages = new Set<number>();
    for (;;) {
      const rows = this.#db.all<{ rowid: number }>(
        `SELECT rowid FROM passages WHERE passages MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ${ROWS_A_PAGE}`,
        query,
        below,
      );
      for (const { rowid } of rows) {
        const of = Math.floor(rowid / PASSAGES_PER_FILE);
        if (of !== file && passages.size) yield { file, passages };
        if (of !== file) [file, passages] = [of, new Set()];
        passages.add(rowid % PASSAGES_PER_FILE);
        below = rowid;
      }
      if (rows.length < ROWS_A_PAGE) break;
    }
    if (passages.size) yield { file, passages };
  }
}

/** Opens the index, or makes it. What is no index of this version is deleted first. */
export async function openIndex(path: string, profile: string, signal: AbortSignal): Promise<TextIndex> {
  const open = (): Promise<Database> => openDatabase(path, migrations, { signal });
  try {
    return new TextIndex(await open(), profile);
  } catch (error) {
    if (isLocked(error) || whyUnwritable(path) || signal.aborted) throw error;
  }
  deleteIndex(path);
  return new TextIndex(await open(), profile);
}

export const deleteIndex = (path: string): void => {
  for (const each of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`]) rmSync(each, { force: true });
};

/** Not while another process uses it: that one would remove the log of the next index when it ends. */
export async function forgetIndex(path: string, signal: AbortSignal): Promise<void> {
  try {
    const db = await openDatabase(path, migrations, { signal });
    try {
      // Takes a lock that no reader and no writer shares, and removes the log.
      db.exec('PRAGMA busy_timeout = 1000; PRAGMA journal_mode = DELETE');
    } finally {
      db.close();
    }
  } catch (error) {
    if (isLocked(error))
      throw new StenoError('failed', 'another search is running: the index is in use', {
        hint: 'run it again when that one has ended',
        cause: error,
      });
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
