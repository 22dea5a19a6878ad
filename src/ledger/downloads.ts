/** Which transcripts were downloaded, in which format, to which folder. */
import { dirname, resolve } from 'node:path';
import type { Database } from '../lib/sqlite.ts';

export interface Download {
  readonly file: string;
  readonly ext: string;
  readonly path: string;
  readonly bytes: number;
  readonly at: string;
}

export class Downloads {
  readonly #db: Database;
  readonly #profile: string;

  constructor(db: Database, profile: string) {
    this.#db = db;
    this.#profile = profile;
  }

  add(file: string, ext: string, path: string, bytes: number): void {
    const whole = resolve(path);
    this.#db.run(
      `INSERT INTO downloads (profile, file, ext, folder, path, bytes, at) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (profile, file, ext, folder) DO UPDATE SET path = excluded.path, bytes = excluded.bytes, at = excluded.at`,
      this.#profile,
      file,
      ext,
      dirname(whole),
      whole,
      bytes,
      new Date().toISOString(),
    );
  }

  /** The downloads of these files, oldest first. */
  of(files: readonly string[]): Map<string, Download[]> {
    const rows = this.#db.all<Download>(
      `SELECT file, ext, path, bytes, at FROM downloads
       WHERE profile = ? AND file IN (SELECT value FROM json_each(?)) ORDER BY at`,
      this.#profile,
      JSON.stringify(files),
    );
    const found = new Map<string, Download[]>();
    for (const row of rows) found.set(row.file, [...(found.get(row.file) ?? []), row]);
    return found;
  }
}
