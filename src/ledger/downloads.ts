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
  /** The SHA-256 of a draft: a transcript whose file was not known to be delivered. */
  readonly draft: string | undefined;
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
    { bytes, draft }: Written,
    folder = dirname(path),
  ): Promise<void> {
    const whole = resolve(path);
    if (await this.isOfAnother(file, ext, path))
      await this.db.run('DELETE FROM downloads WHERE path_key = ?', pathKey(whole));
    await this.db.run(
      `INSERT INTO downloads (profile, file, ext, folder, path, path_key, bytes, at, draft)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (profile, file, ext, folder) DO UPDATE SET path = excluded.path, path_key = excluded.path_key,
         bytes = excluded.bytes, at = excluded.at, draft = excluded.draft`,
      this.profile,
      file,
      ext,
      resolve(folder),
      whole,
      pathKey(whole),
      bytes,
      timestamp(),
      draft ?? null,
    );
  }

  /** The SHA-256 of the draft of this transcript that we wrote to the path, if we wrote one. */
  async draftAt(file: string, ext: string, path: string): Promise<string | undefined> {
    const row = await this.db.get<{ draft: string | null }>(
      'SELECT draft FROM downloads WHERE profile = ? AND file = ? AND ext = ? AND path_key = ?',
      this.profile,
      file,
      ext,
      pathKey(resolve(path)),
    );
    return row?.draft ?? undefined;
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

  /** Whether the path is noted for a transcript that was delivered. */
  async has(path: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM downloads WHERE path_key = ? AND draft IS NULL';
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
