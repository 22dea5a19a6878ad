/**
 * The index of all transcripts on this disk: a SQLite file of its own, with their sentences and the words of each. It can
 * be deleted at any time, and is made anew where it is damaged or of another version.
 */
import { existsSync, rmSync } from 'node:fs';
import { StenoError, systemReason } from '../../lib/errors.ts';
import { whyUnwritable } from '../../lib/fs.ts';
import { type Database, isLocked, openDatabase, openScratch, untilFree } from '../../lib/sqlite.ts';
import type { TranscriptOnDisk } from '../transcripts/on-disk.ts';
import { WORDS_BEYOND } from './query.ts';
import type { Sentence } from './sentences.ts';
import { forIndex } from './words.ts';

const CREATE_TEXTS =
  "CREATE VIRTUAL TABLE texts USING fts5(text, content='', contentless_delete=1, tokenize='ascii')";

/** An index that has another one, of a newer or an older version, is made anew. */
const migrations = [
  {
    name: 'search 4',
    sql: `CREATE TABLE files (id INTEGER PRIMARY KEY, profile TEXT NOT NULL, path TEXT NOT NULL, file TEXT NOT NULL,
        trouble TEXT, first INTEGER NOT NULL, last INTEGER NOT NULL, UNIQUE (profile, path));
      CREATE INDEX ranges ON files (profile, first);
      -- The ids of a file's sentences are consecutive.
      CREATE TABLE sentences (id INTEGER PRIMARY KEY, line INTEGER NOT NULL, start INTEGER, "end" INTEGER,
        speaker TEXT, is_head INTEGER, text TEXT NOT NULL);
      CREATE INDEX troubles ON files (profile) WHERE trouble IS NOT NULL;
      CREATE TABLE listings (profile TEXT PRIMARY KEY, ledger TEXT NOT NULL, files TEXT NOT NULL);
      ${CREATE_TEXTS};
      -- Speed: with more than SQLite's own 1 MB for new words, it merges less often.
      INSERT INTO texts (texts, rank) VALUES ('hashsize', 16777216)`,
  },
];

export interface IndexedFile extends TranscriptOnDisk {
  readonly id: number;
  /** The ids of its sentences; none if the last is before the first. */
  readonly first: number;
  readonly last: number;
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

/** A file as it is put into the index. */
export type NewFile = Omit<IndexedFile, 'id' | 'first' | 'last'>;

/** A file, and which of its sentences may match, by their ids. */
export interface Found {
  readonly file: IndexedFile;
  readonly ids: readonly number[];
}

interface SentenceRow {
  readonly line: number;
  readonly start: number | null;
  readonly end: number | null;
  readonly speaker: string | null;
  readonly is_head: number | null;
  readonly text: string;
}

/** How long another process may index without a pause. */
const LOCK_LIMIT_MS = 60_000;

export class TextIndex {
  readonly #db: Database;
  readonly #profile: string;
  /** Speed: written at the end of a transaction, because FTS5 writes all new words out before any such statement. */
  #added: IndexedFile[] = [];
  #nextId = 0;
  #nextSentence = 0;

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

  /** The files with sentences that may match, the newest first. */
  find(query: string): Found[] {
    const all = this.ids(query);
    const files = all.length
      ? this.#filesOf('FROM files WHERE profile = ? ORDER BY first', this.#profile)
      : [];
    const found = new Map<IndexedFile, number[]>();
    let at = 0;
    for (const id of all) {
      while ((files[at]?.last ?? Infinity) < id) at += 1;
      const file = files[at];
      if (file === undefined) break;
      if (id < file.first) continue;
      const ids = found.get(file);
      if (ids) ids.push(id);
      else found.set(file, [id]);
    }
    return newestFirst([...found].map(([file, ids]) => ({ file, ids })));
  }

  /** The sentences that match, of every profile, in their order. */
  ids(query: string, limit = -1, first = 0, last = Number.MAX_SAFE_INTEGER): number[] {
    const sql = 'SELECT rowid AS id FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?';
    return this.#db.all<{ id: number }>(sql, query, first, last, limit).map(({ id }) => id);
  }

  /** In their order. */
  sentences(first: number, last: number): Sentence[] {
    const sql =
      'SELECT line, start, "end", speaker, is_head, text FROM sentences WHERE id BETWEEN ? AND ? ORDER BY id';
    return this.#db
      .all<SentenceRow>(sql, first, last)
      .map(({ line, start, end, speaker, is_head, text }) => ({
        ...{ text, line, start: start ?? undefined, end: end ?? undefined, speaker: speaker ?? undefined },
        isHead: is_head ? true : undefined,
      }));
  }

  #filesOf(from: string, ...values: string[]): IndexedFile[] {
    const columns = 'files.id, files.file, files.first, files.last';
    const rows = this.#db.all<Pick<IndexedFile, 'id' | 'first' | 'last'> & { file: string }>(
      `SELECT ${columns} ${from}`,
      ...values,
    );
    return rows.map(({ file, ...row }) => ({ ...(JSON.parse(file) as NewFile), ...row }));
  }

  /** Runs work that writes, in one transaction. Another process that writes is waited for; readers are not held up. */
  async writing(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    await untilFree(LOCK_LIMIT_MS, signal, () => this.#db.run('BEGIN IMMEDIATE'));
    try {
      this.#added = [];
      this.#nextId = this.#after('files');
      this.#nextSentence = this.#after('sentences');
      await work();
      const sql = `INSERT INTO files (id, profile, path, file, trouble, first, last)
        SELECT value ->> 'id', ?, value ->> 'path', value, value ->> 'trouble', value ->> 'first', value ->> 'last'
        FROM json_each(?)`;
      this.#db.run(sql, this.#profile, JSON.stringify(this.#added));
      this.#db.run('COMMIT');
    } catch (error) {
      this.#db.rollBack();
      throw error;
    }
  }

  /** The same text at another path or time: nothing of it is indexed again. */
  move({ id, path }: IndexedFile, to: NewFile): boolean {
    const sql = 'UPDATE OR IGNORE files SET path = ?, file = ? WHERE id = ? AND path = ?';
    return this.#db.run(sql, to.path, JSON.stringify(to), id, path) === 1;
  }

  /** In the place of another at its path. */
  put(file: NewFile, sentences: readonly Sentence[], before: IndexedFile | undefined): void {
    if (before) this.drop(before);
    const first = this.#nextSentence;
    this.#nextSentence += sentences.length;
    const id = this.#nextId + this.#added.length;
    this.#added.push({ ...file, id, first, last: this.#nextSentence - 1 });
    const texts = sentences.map(({ text }) => forIndex(text));
    for (const [at, { line, start, end, speaker, isHead, text }] of sentences.entries()) {
      const row = [line, start ?? null, end ?? null, speaker ?? null, isHead ? 1 : null, text];
      this.#db.run('INSERT INTO sentences VALUES (?, ?, ?, ?, ?, ?, ?)', first + at, ...row);
      const words = `${texts[at]} ${firstWords(texts, at + 1)}`;
      this.#db.run('INSERT INTO texts (rowid, text) VALUES (?, ?)', first + at, words);
    }
  }

  /** Unless it was moved. */
  drop({ id, path, first, last }: IndexedFile): void {
    if (!this.#db.run('DELETE FROM files WHERE id = ? AND path = ?', id, path)) return;
    this.#db.run('DELETE FROM sentences WHERE id BETWEEN ? AND ?', first, last);
    this.#db.run('DELETE FROM texts WHERE rowid BETWEEN ? AND ?', first, last);
  }

  #after(table: string): number {
    const sql = `SELECT coalesce(max(id), 0) + 1 AS next FROM ${table}`;
    return Number(this.#db.get<{ next: number }>(sql)?.next);
  }

  /** Writes the log into the file, so that it takes no room of its own. */
  compact(): void {
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }
}

const word = /[A-Za-z0-9\x80-\uffff]+/g;

/** Of the texts from this one on. */
function firstWords(texts: readonly string[], from: number): string {
  const words: string[] = [];
  for (let at = from; at < texts.length && words.length < WORDS_BEYOND; at += 1)
    words.push(...(texts[at]?.match(word) ?? []).slice(0, WORDS_BEYOND - words.length));
  return words.join(' ');
}

/** Speed: nearly in this order already, and their times are in their documents anyway. */
const newestFirst = (found: readonly Found[]): Found[] =>
  [...found]
    .reverse()
    .sort(({ file: one }, { file: other }) =>
      one.downloadedAt > other.downloadedAt ? -1 : Number(one.downloadedAt < other.downloadedAt),
    );

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
