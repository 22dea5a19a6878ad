/** Which transcripts were downloaded, in which format, to which folder. */
import { dirname, resolve } from 'node:path';
import { pathKey } from '../lib/path-key.ts';
import { jsonList } from './json-list.ts';
import { Table, timestamp } from './table.ts';

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
}

/** What we wrote to a path before. */
export interface NotedCopy {
  readonly sha256: string;
  readonly isDraft: boolean;
  /** Its file was upgraded since. */
  readonly isOutdated: boolean;
}

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
    { bytes, sha256, isDraft }: Written,
    folder = dirname(path),
  ): Promise<void> {
    const whole = resolve(path);
    if (await this.isOfAnother(file, ext, path))
      await this.db.run('DELETE FROM downloads WHERE path_key = ?', pathKey(whole));
    await this.db.run(
      `INSERT INTO downloads (profile, file, ext, folder, path, path_key, bytes, at, sha256, draft)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (profile, file, ext, folder) DO UPDATE SET path = excluded.path, path_key = excluded.path_key,
         bytes = excluded.bytes, at = excluded.at, sha256 = excluded.sha256, draft = excluded.draft, outdated = 0`,
      this.profile,
      file,
      ext,
      resolve(folder),
      whole,
      pathKey(whole),
      bytes,
      timestamp(),
      sha256,
      Number(isDraft),
    );
  }

  /** What we wrote of this transcript to the path, if we did. */
  async copyAt(file: string, ext: string, path: string): Promise<NotedCopy | undefined> {
    const row = await this.db.get<{ sha256: string; draft: number; outdated: number }>(
      'SELECT sha256, draft, outdated FROM downloads WHERE profile = ? AND file = ? AND ext = ? AND path_key = ?',
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
    const sql = 'SELECT 1 FROM downloads WHERE path_key = ? AND draft = 0 AND outdated = 0';
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

  /** The downloads of these files, oldest first. */
  async forFiles(files: readonly string[]): Promise<Map<string, Download[]>> {
    if (files.length === 0) return new Map();
    const rows = await this.db.all<Download>(
      `SELECT file, ext, path, bytes, at FROM downloads
       WHERE profile = ? AND file IN (SELECT value FROM json_each(?)) ORDER BY at`,
      this.profile,
      jsonList(files),
    );
    const found = new Map<string, Download[]>();
    for (const row of rows) found.set(row.file, [...(found.get(row.file) ?? []), row]);
    return found;
  }
}
