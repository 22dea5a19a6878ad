/** Which transcripts were downloaded, in which format, to which folder. */
import { dirname, resolve } from 'node:path';
import { pathKey } from '../lib/fs.ts';
import { addFileConditions, type FileFilter, IS_FINAL, IS_OUTDATED } from './files.ts';
import { AUDIO_COLUMNS, WITH_AUDIO } from './pairing.ts';
import type { AudioRow } from './purchase.ts';
import { Conditions, groupBy, jsonList, Table } from './table.ts';

export interface Download {
  readonly file: string;
  readonly ext: string;
  readonly path: string;
  readonly bytes: number;
  readonly at: string;
}

/** What was written to a path. */
export interface Written {
  readonly bytes: number;
  /** Empty where it is not known. */
  readonly sha256: string;
  /** Its file was not known to be delivered. */
  readonly isDraft: boolean;
  /** It waits for the command of `sync --exec`, unless one has had this very transcript. */
  readonly isForCommand?: boolean | undefined;
}

/** What we wrote to a path before. */
export interface NotedCopy {
  readonly sha256: string;
  readonly isDraft: boolean;
  /** Its file was upgraded since. */
  readonly isOutdated: boolean;
}

/** A transcript that waits for the command of `sync --exec`. */
export interface WaitingTranscript {
  readonly file: string;
  readonly ext: string;
  readonly folder: string;
  readonly path: string;
}

/** One that a command is about to get. */
export interface TakenTranscript {
  readonly path: string;
  readonly sha256: string;
  /** How often a command was begun for it, this time included. */
  readonly tries: number;
}

/** A download with what is known of its file. */
export interface DownloadRow extends AudioRow {
  readonly file: string;
  readonly ext: string;
  readonly path: string;
  readonly bytes: number;
  /** Empty where it is not known. */
  readonly sha256: string;
  readonly at: string;
  /** Null where the ledger does not have the file. */
  readonly title: string | null;
  readonly duration: string | null;
  /** 1: it is what was delivered last. */
  readonly is_final: number;
}

export interface DownloadFilter extends Pick<FileFilter, 'order' | 'tag' | 'feed'> {
  readonly files?: readonly string[] | undefined;
  /** ISO 8601: downloaded at this time or later. */
  readonly since?: string | undefined;
}

const DOWNLOAD_ROWS = `SELECT downloads.file, downloads.ext, downloads.path, downloads.bytes, downloads.sha256, downloads.at,
    files.title, files.duration, CASE WHEN ${IS_FINAL} THEN 1 ELSE 0 END AS is_final, ${AUDIO_COLUMNS}
  FROM downloads LEFT JOIN files ON files.profile = downloads.profile AND files.id = downloads.file ${WITH_AUDIO}
  WHERE downloads.profile = ?`;

interface Owner {
  readonly profile: string;
  readonly file: string;
  readonly ext: string;
}

export class Downloads extends Table {
  /**
   * Notes a transcript at a path, as one that the folder has: the path is in it or below. If the path was noted for
   * another, that one was replaced and is removed.
   */
  async add(
    file: string,
    ext: string,
    path: string,
    { bytes, sha256, isDraft, isForCommand = false }: Written,
    folder = dirname(path),
  ): Promise<void> {
    const whole = resolve(path);
    if (await this.isOfAnother(file, ext, path))
      await this.db.run('DELETE FROM downloads WHERE path_key = ?', pathKey(whole));
    await this.db.run(
      // The same transcript again is not handed over again; one that replaces it is.
      `INSERT INTO downloads (profile, file, ext, folder, path, path_key, bytes, at, sha256, draft, handed_over)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (profile, file, ext, folder) DO UPDATE SET path = excluded.path, path_key = excluded.path_key,
         bytes = excluded.bytes, at = excluded.at, sha256 = excluded.sha256, draft = excluded.draft,
         handed_over = CASE WHEN downloads.handed_over = 0 THEN excluded.handed_over
           WHEN ${IS_FINAL} THEN downloads.handed_over ELSE 1 END,
         tries = CASE WHEN ${IS_FINAL} THEN downloads.tries ELSE 0 END`,
      this.profile,
      file,
      ext,
      resolve(folder),
      whole,
      pathKey(whole),
      bytes,
      this.timestamp(),
      sha256,
      Number(isDraft),
      Number(isForCommand),
    );
  }

  /** The formats of what waits for a command in a folder. */
  async waitingFormats(folder: string): Promise<string[]> {
    const rows = await this.db.all<{ ext: string }>(
      'SELECT DISTINCT ext FROM downloads WHERE profile = ? AND folder = ? AND handed_over = 1 ORDER BY ext',
      this.profile,
      resolve(folder),
    );
    return rows.map(({ ext }) => ext);
  }

  /** A page of what waits for a command in a folder, after the file of this id. */
  waiting(folder: string, ext: string, after: string, size: number): Promise<WaitingTranscript[]> {
    return this.db.all<WaitingTranscript>(
      `SELECT file, ext, folder, path FROM downloads
       WHERE profile = ? AND folder = ? AND ext = ? AND handed_over = 1 AND file > ? ORDER BY file LIMIT ?`,
      this.profile,
      resolve(folder),
      ext,
      after,
      size,
    );
  }

  /** Counts a try of a command; undefined if the transcript waits for none any more. */
  take({ file, ext, folder }: WaitingTranscript): Promise<TakenTranscript | undefined> {
    return this.db.get<TakenTranscript>(
      `UPDATE downloads SET tries = tries + 1
       WHERE profile = ? AND file = ? AND ext = ? AND folder = ? AND handed_over = 1 RETURNING path, sha256, tries`,
      this.profile,
      file,
      ext,
      folder,
    );
  }

  /** A command has had it, unless another transcript has taken its place meanwhile. */
  setHandedOver({ file, ext, folder }: WaitingTranscript, { sha256 }: TakenTranscript): Promise<number> {
    return this.db.run(
      `UPDATE downloads SET handed_over = 2
       WHERE profile = ? AND file = ? AND ext = ? AND folder = ? AND sha256 = ? AND handed_over = 1`,
      this.profile,
      file,
      ext,
      folder,
      sha256,
    );
  }

  /** What we wrote of this transcript to the path, if we did. */
  async copyAt(file: string, ext: string, path: string): Promise<NotedCopy | undefined> {
    const row = await this.db.get<{ sha256: string; draft: number; outdated: number }>(
      `SELECT sha256, draft, CASE WHEN ${IS_OUTDATED} THEN 1 ELSE 0 END AS outdated FROM downloads
       WHERE profile = ? AND file = ? AND ext = ? AND path_key = ?`,
      this.profile,
      file,
      ext,
      pathKey(resolve(path)),
    );
    return row && { sha256: row.sha256, isDraft: row.draft === 1, isOutdated: row.outdated === 1 };
  }

  /** Where the folder has this transcript. */
  async pathIn(folder: string, file: string, ext: string): Promise<string | undefined> {
    const row = await this.db.get<{ path: string }>(
      'SELECT path FROM downloads WHERE profile = ? AND file = ? AND ext = ? AND folder = ?',
      this.profile,
      file,
      ext,
      resolve(folder),
    );
    return row?.path;
  }

  /** Whether the path is noted for the transcript that was delivered last. */
  async has(path: string): Promise<boolean> {
    const sql = `SELECT 1 FROM downloads WHERE path_key = ? AND ${IS_FINAL}`;
    return (await this.db.get(sql, pathKey(resolve(path)))) !== undefined;
  }

  /** Whether the path is noted for this transcript. */
  async isOf(file: string, ext: string, path: string): Promise<boolean> {
    return (await this.#findOwners(path)).some((owner) => this.#isOwner(owner, file, ext));
  }

  /** Whether the path is noted for a transcript other than this one, of any profile. */
  async isOfAnother(file: string, ext: string, path: string): Promise<boolean> {
    return (await this.#findOwners(path)).some((owner) => !this.#isOwner(owner, file, ext));
  }

  #isOwner(owner: Owner, file: string, ext: string): boolean {
    return owner.profile === this.profile && owner.file === file && owner.ext === ext;
  }

  #findOwners(path: string): Promise<Owner[]> {
    return this.db.all<Owner>(
      'SELECT profile, file, ext FROM downloads WHERE path_key = ?',
      pathKey(resolve(path)),
    );
  }

  /** How many are noted in these formats. */
  async count(formats: readonly string[]): Promise<number> {
    const row = await this.db.get<{ n: number | string }>(
      `SELECT count(*) AS n FROM downloads WHERE profile = ? AND ext IN (SELECT value FROM json_each(?))`,
      this.profile,
      jsonList(formats),
    );
    return Number(row?.n);
  }

  /** The downloads of these files, oldest first. */
  async forFiles(files: readonly string[]): Promise<Map<string, Download[]>> {
    if (files.length === 0) return new Map();
    const rows = await this.db.all<Download>(
      `SELECT file, ext, path, bytes, at FROM downloads
       WHERE profile = ? AND file IN (SELECT value FROM json_each(?)) ORDER BY at, path`,
      this.profile,
      jsonList(files),
    );
    return groupBy(rows, ({ file }) => file);
  }

  /** A page of downloads, by file and newest first, of the files after this one. A page has all of its last file. */
  async page(filter: DownloadFilter, after: string, size: number): Promise<DownloadRow[]> {
    const { files, since } = filter;
    const all = new Conditions().add('downloads.file > ?', after);
    if (files) all.add('downloads.file IN (SELECT value FROM json_each(?))', jsonList(files));
    if (since !== undefined) all.add('downloads.at >= ?', since);
    addFileConditions(all, filter, this.hide);
    const rows = await this.db.all<DownloadRow>(
      `${DOWNLOAD_ROWS} AND ${all.where} ORDER BY downloads.file, downloads.at DESC, downloads.path LIMIT ?`,
      ...[this.profile, ...all.values, size],
    );
    if (rows.length < size) return rows;
    const whole = rows.filter(({ file }) => file !== rows.at(-1)?.file);
    return whole.length ? whole : rows;
  }

  /** What is noted at a path. */
  at(path: string): Promise<DownloadRow | undefined> {
    const sql = `${DOWNLOAD_ROWS} AND downloads.path_key = ?`;
    return this.db.get<DownloadRow>(sql, this.profile, pathKey(resolve(path)));
  }
}
