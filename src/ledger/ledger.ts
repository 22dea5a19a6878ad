/** What was ordered and what became of it, for one profile. The service keeps no list, so this is the only one. */
import { Attempts } from './attempts.ts';
import { type Database, openDatabase } from './database.ts';
import { Downloads } from './downloads.ts';
import { Files } from './files.ts';
import { migrations } from './schema.ts';
import { Words } from './words.ts';

export type Hide = (text: string) => string;

export class Ledger {
  readonly attempts: Attempts;
  readonly files: Files;
  readonly downloads: Downloads;
  readonly words: Words;
  readonly #db: Database;

  private constructor(db: Database, profile: string, hide: Hide) {
    this.#db = db;
    this.attempts = new Attempts(db, profile, hide);
    this.files = new Files(db, profile, hide);
    this.downloads = new Downloads(db, profile);
    this.words = new Words(db, profile);
  }

  /** `hide` takes secrets out of a text: whatever comes from outside goes through it before it is kept. */
  static async open(path: string, profile: string, hide: Hide): Promise<Ledger> {
    return new Ledger(await openDatabase(path, migrations), profile, hide);
  }

  /** A number that is another one when another process has written. */
  get version(): number {
    return this.#db.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
  }

  close(): void {
    this.#db.close();
  }
}
