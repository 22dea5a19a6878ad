/** What was ordered and what became of it, for one profile. The service keeps no list, so this is the only one. */

import { type Database, openDatabase } from '../lib/sqlite.ts';
import { Actions } from './actions.ts';
import { Attempts } from './attempts.ts';
import { Downloads } from './downloads.ts';
import { Events } from './events.ts';
import { Files } from './files.ts';
import { Heard } from './heard.ts';
import { Runs } from './runs.ts';
import { migrations } from './schema.ts';
import { Words } from './words.ts';

export type Hide = (text: string) => string;

export class Ledger {
  readonly attempts: Attempts;
  readonly files: Files;
  readonly downloads: Downloads;
  readonly words: Words;
  readonly events: Events;
  readonly actions: Actions;
  readonly runs: Runs;
  readonly heard: Heard;
  readonly #db: Database;
  readonly #profile: string;
  readonly #hide: Hide;

  private constructor(db: Database, profile: string, hide: Hide) {
    this.#db = db;
    this.#profile = profile;
    this.#hide = hide;
    this.attempts = new Attempts(db, profile, hide);
    this.files = new Files(db, profile, hide);
    this.downloads = new Downloads(db, profile);
    this.words = new Words(db, profile);
    this.events = new Events(db, profile);
    this.actions = new Actions(db, profile);
    this.runs = new Runs(db, profile);
    this.heard = new Heard(db, profile);
  }

  /** `hide` takes secrets out of a text: whatever comes from outside goes through it before it is kept. */
  static async open(path: string, profile: string, hide: Hide): Promise<Ledger> {
    return new Ledger(await openDatabase(path, migrations), profile, hide);
  }

  /** A second way into the same ledger: each commit is on disk for good, and a lock fails at once. */
  async openNonBlocking(): Promise<Ledger> {
    const db = await openDatabase(this.#db.path, migrations);
    db.exec('PRAGMA busy_timeout = 0');
    db.syncEveryCommit();
    return new Ledger(db, this.#profile, this.#hide);
  }

  /** Does all of the work or none of it. */
  atomically<Result>(work: () => Result): Result {
    return this.#db.transaction(work);
  }

  /** A number that is another one when another process has written. */
  get version(): number {
    return this.#db.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
  }

  /** Forgets everything of this profile. */
  forget(): void {
    this.#db.transaction(() => {
      const profile = this.#profile;
      this.#db.run(
        'DELETE FROM attempt_urls WHERE attempt IN (SELECT id FROM attempts WHERE profile = ?)',
        profile,
      );
      this.#db.run('DELETE FROM actions WHERE event IN (SELECT id FROM events WHERE profile = ?)', profile);
      this.#db.run(
        'DELETE FROM event_files WHERE event IN (SELECT id FROM events WHERE profile = ?)',
        profile,
      );
      for (const table of ['attempts', 'orders', 'files', 'downloads', 'events']) {
        this.#db.run(`DELETE FROM ${table} WHERE profile = ?`, profile);
      }
    });
  }

  close(): void {
    this.#db.close();
  }
}
