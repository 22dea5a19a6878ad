/**
 * The index of all transcripts on this disk: a SQLite file of its own, with their sentences and the words of each. It can
 * be deleted at any time, and is made anew where it is damaged or of another version. Where it can't be written, or
 * SQLite has no FTS5, a search makes one for itself alone.
 */
import { existsSync, rmSync } from 'node:fs';
import { untilFree } from '../../lib/backoff.ts';
import { StenoError, systemReason } from '../../lib/errors.ts';
import { findStats, whyUnwritable } from '../../lib/fs.ts';
import { type Database, isLocked, openDatabase, openScratch } from '../../lib/sqlite.ts';
import type { TranscriptOnDisk } from '../transcripts/on-disk.ts';
import { ftsQuery, type Term, WORDS_BEYOND } from './query.ts';
import type { Sentence } from './sentences.ts';
import { forIndex, wordsOf } from './words.ts';

/** The ids of a file's sentences are consecutive. */
const CREATE_TABLES = `
  CREATE TABLE files (id INTEGER PRIMARY KEY, profile TEXT NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL,
    mtime REAL NOT NULL, file TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, UNIQUE (profile, path));
  CREATE TABLE sentences (id INTEGER PRIMARY KEY, line INTEGER NOT NULL, start INTEGER, "end" INTEGER,
    speaker TEXT, is_head INTEGER, text TEXT NOT NULL);
  CREATE TABLE listings (profile TEXT PRIMARY KEY, ledger TEXT NOT NULL);`;
/** Speed: with more than SQLite's own 1 MB for new words, it merges less often. */
const CREATE_TEXTS = `
  CREATE VIRTUAL TABLE texts USING fts5(text, content='', contentless_delete=1, tokenize='ascii');
  INSERT INTO texts (texts, rank) VALUES ('hashsize', 16777216);`;

/** An index that has another one, of a newer or an older version, is made anew. */
const migrations = [{ name: 'search 5', sql: CREATE_TABLES + CREATE_TEXTS }];

export interface IndexedFile extends TranscriptOnDisk {
  readonly id: number;
  /** The ids of its sentences; none if the last is before the first. */
  readonly first: number;
  readonly last: number;
  /** Empty if it could not be read, and why. */
  readonly sha256: string;
  readonly trouble?: string;
}

/** A file as it is put into the index. */
export type NewFile = Omit<IndexedFile, 'id' | 'first' | 'last'>;

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
  /** Why it is not the one in the state folder. */
  readonly trouble: string | undefined;
  readonly #db: Database;
  readonly #profile: string;
  /** In place of FTS5: the sentences of each word. */
  readonly #places: Map<string, number[]> | undefined;
  #nextSentence = 0;

  constructor(db: Database, profile: string, trouble?: string, hasFullText = true) {
    this.#db = db;
    this.#profile = profile;
    this.trouble = trouble;
    this.#places = hasFullText ? undefined : new Map();
  }

  close(): void {
    this.#db.close();
  }

  /** Whether ledger and files are as they were at the last listing. */
  isCurrent(ledger: string | undefined): boolean {
    const listed = this.#db.get<{ ledger: string }>(
      'SELECT ledger FROM listings WHERE profile = ?',
      this.#profile,
    );
    if (ledger === undefined || listed?.ledger !== ledger) return false;
    const sql = 'SELECT path, size, mtime FROM files WHERE profile = ?';
    const files = this.#db.all<{ path: string; size: number; mtime: number }>(sql, this.#profile);
    return files.every(({ path, size, mtime }) => {
      const found = findStats(path);
      return found?.size === size && found.mtimeMs === mtime;
    });
  }

  setListed(ledger: string): void {
    this.#db.run('INSERT OR REPLACE INTO listings (profile, ledger) VALUES (?, ?)', this.#profile, ledger);
  }

  /** In the order of their sentences. */
  get files(): IndexedFile[] {
    const rows = this.#db.all<Pick<IndexedFile, 'id' | 'first' | 'last'> & { file: string }>(
      'SELECT id, file, first, last FROM files WHERE profile = ? ORDER BY first',
      this.#profile,
    );
    return rows.map(({ file, ...row }) => ({ ...(JSON.parse(file) as NewFile), ...row }));
  }

  /** The sentences that may have these words, of every profile, in their order. */
  ids(terms: readonly Term[], limit = -1, first = 0, last = Number.MAX_SAFE_INTEGER): number[] {
    if (this.#places) return this.#scan(terms).filter((id) => id >= first && id <= last);
    const rows = 'SELECT rowid FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?';
    // Speed: of thousands of ids, one row.
    const sql = `SELECT json_group_array(rowid) AS ids FROM (${rows})`;
    const found = this.#db.get<{ ids: string }>(sql, ftsQuery(terms), first, last, limit);
    return JSON.parse(found?.ids ?? '[]') as number[];
  }

  #scan(terms: readonly Term[]): number[] {
    const whole = terms.flatMap(({ words, isPrefix }) =>
      words.slice(0, isPrefix ? -1 : undefined).slice(0, WORDS_BEYOND + 1),
    );
    const [shortest, ...others] = whole
      .map((word) => this.#places?.get(word) ?? [])
      .sort((one, other) => one.length - other.length);
    if (!shortest) return Array.from({ length: this.#nextSentence - 1 }, (_, at) => at + 1);
    const sets = others.map((ids) => new Set(ids));
    return shortest.filter((id) => sets.every((ids) => ids.has(id)));
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

  /** Runs work that writes, in one transaction. Another process that writes is waited for; readers are not held up. */
  async writing(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const begin = (): void => void this.#db.run('BEGIN IMMEDIATE');
    await untilFree(begin, { limitMs: LOCK_LIMIT_MS, mayPass: isLocked, signal });
    try {
      const sql = 'SELECT coalesce(max(id), 0) + 1 AS next FROM sentences';
      this.#nextSentence = Number(this.#db.get<{ next: number }>(sql)?.next);
      await work();
      this.#db.run('COMMIT');
    } catch (error) {
      this.#db.rollBack();
      throw error;
    }
  }

  /** The same text at another time: nothing of it is indexed again. */
  keep({ id }: IndexedFile, file: NewFile): void {
    const sql = 'UPDATE files SET size = ?, mtime = ?, file = ? WHERE id = ?';
    this.#db.run(sql, file.size, file.mtimeMs, JSON.stringify(file), id);
  }

  /** In the place of another at its path. */
  put(file: NewFile, sentences: readonly Sentence[], before: IndexedFile | undefined): void {
    if (before) this.drop(before);
    const first = this.#nextSentence;
    this.#nextSentence += sentences.length;
    const { path, size, mtimeMs } = file;
    this.#db.run(
      'INSERT INTO files (profile, path, size, mtime, file, first, last) VALUES (?, ?, ?, ?, ?, ?, ?)',
      ...[this.#profile, path, size, mtimeMs, JSON.stringify(file), first, this.#nextSentence - 1],
    );
    const texts = sentences.map(({ text }) => forIndex(text));
    for (const [at, { line, start, end, speaker, isHead, text }] of sentences.entries()) {
      const row = [line, start ?? null, end ?? null, speaker ?? null, isHead ? 1 : null, text];
      this.#db.run('INSERT INTO sentences VALUES (?, ?, ?, ?, ?, ?, ?)', first + at, ...row);
      this.#putWords(first + at, `${texts[at]} ${firstWords(texts, at + 1)}`);
    }
  }

  #putWords(id: number, text: string): void {
    if (!this.#places) return void this.#db.run('INSERT INTO texts (rowid, text) VALUES (?, ?)', id, text);
    for (const word of new Set(wordsOf(text).map((each) => each.text))) {
      const ids = this.#places.get(word);
      if (ids) ids.push(id);
      else this.#places.set(word, [id]);
    }
  }

  drop({ id, first, last }: IndexedFile): void {
    this.#db.run('DELETE FROM files WHERE id = ?', id);
    this.#db.run('DELETE FROM sentences WHERE id BETWEEN ? AND ?', first, last);
    if (!this.#places) this.#db.run('DELETE FROM texts WHERE rowid BETWEEN ? AND ?', first, last);
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

/** Opens the index, or makes it. What is no index of this version is deleted first. */
export async function openIndex(path: string, profile: string, signal: AbortSignal): Promise<TextIndex> {
  const open = async () => new TextIndex(await openDatabase(path, migrations, { signal }), profile);
  return open().catch((error: unknown) => {
    if (isLocked(error) || whyUnwritable(path) || signal.aborted) throw error;
    deleteIndex(path);
    return open();
  });
}

/** One for this process alone; `trouble`: why. Some builds of SQLite have no FTS5. */
export async function scratchIndex(profile: string, trouble?: string): Promise<TextIndex> {
  const db = await openScratch();
  db.exec(CREATE_TABLES);
  try {
    db.exec(CREATE_TEXTS);
    return new TextIndex(db, profile, trouble);
  } catch {
    return new TextIndex(db, profile, 'this SQLite has no FTS5', false);
  }
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
