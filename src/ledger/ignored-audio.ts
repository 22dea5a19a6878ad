/** Audio that lists, feeds and folders leave out, because people said so. */
import { ignoredName, storedName } from '../lib/names.ts';
import { keptText, NOW, Table } from './table.ts';

export interface Ignored {
  /** As it was named, without its secrets: a URL, a key, a guid or a path. */
  readonly given: string;
  readonly setAt: string;
  readonly setBy: string;
}

/** What people named, and the URL, key or guid that it stands for: of a path, the key of its content. */
export interface ToIgnore {
  readonly given: string;
  readonly text: string;
}

export class IgnoredAudio extends Table {
  async add(audios: readonly ToIgnore[], by: string): Promise<void> {
    await this.db.batch(
      audios.map(({ given, text }) => ({
        sql: `INSERT INTO ignored_audio (profile, name, given, removed, set_at, set_by) VALUES (?, ?, ?, 0, ${NOW}, ?)
          ON CONFLICT (profile, name) DO UPDATE SET given = excluded.given, removed = 0, set_at = excluded.set_at,
          set_by = excluded.set_by`,
        values: [this.profile, this.#stored(text), keptText(this.hide(given)), this.hide(by)],
      })),
    );
  }

  /** By what it is, or as it was named: a recording may be gone. Gives those of these that were not ignored. */
  async remove(audios: readonly ToIgnore[], by: string): Promise<ToIgnore[]> {
    const unknown: ToIgnore[] = [];
    for (const audio of audios) {
      const removed = await this.db.run(
        `UPDATE ignored_audio SET removed = 1, set_at = ${NOW}, set_by = ?
         WHERE profile = ? AND (name = ? OR given = ?) AND removed = 0`,
        ...[this.hide(by), this.profile, this.#stored(audio.text), keptText(this.hide(audio.given))],
      );
      if (removed === 0) unknown.push(audio);
    }
    return unknown;
  }

  list(): Promise<Ignored[]> {
    return this.db.all<Ignored>(
      `SELECT given, set_at AS "setAt", set_by AS "setBy" FROM ignored_audio WHERE profile = ? AND removed = 0
       ORDER BY name`,
      this.profile,
    );
  }

  /** Whether an audio with one of these URLs, keys and guids is ignored: few are, so they are read at once. */
  async test(): Promise<(texts: readonly string[]) => boolean> {
    const rows = await this.db.all<{ name: string }>(
      'SELECT name FROM ignored_audio WHERE profile = ? AND removed = 0',
      this.profile,
    );
    const names = new Set(rows.map(({ name }) => name));
    return (texts) => names.size > 0 && texts.some((text) => names.has(this.#stored(text)));
  }

  #stored(text: string): string {
    return keptText(storedName(this.hide(ignoredName(text))));
  }
}
