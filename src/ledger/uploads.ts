/** The URLs that files of this machine got, so that a file is not uploaded again after its order failed. */
import { sha256 } from '../lib/sha256.ts';
import { jsonList, Table, timestamp } from './table.ts';

export class Uploads extends Table {
  /** By the content, and by the command that uploaded it: another one may put it elsewhere, or mend what was wrong. */
  async urlOf(content: string, command: string): Promise<string | undefined> {
    const sql = 'SELECT url FROM uploads WHERE profile = ? AND content = ?';
    return (await this.db.get<{ url: string }>(sql, this.profile, nameOf(content, command)))?.url;
  }

  async keep(content: string, command: string, url: string): Promise<void> {
    await this.db.run(
      `INSERT INTO uploads (profile, content, url, at) VALUES (?, ?, ?, ?)
       ON CONFLICT (profile, content) DO UPDATE SET url = excluded.url, at = excluded.at`,
      ...[this.profile, nameOf(content, command), url, timestamp()],
    );
  }

  /**
   * Of any profile: something else was uploaded there, or they are ordered. People clean up what was transcribed, so that
   * the URL may lead nowhere later.
   */
  async forget(urls: readonly string[]): Promise<void> {
    await this.db.run('DELETE FROM uploads WHERE url IN (SELECT value FROM json_each(?))', jsonList(urls));
  }
}

/** A command may hold a password, which is not kept here. */
const nameOf = (content: string, command: string): string => `${content} ${sha256(command).slice(0, 16)}`;
