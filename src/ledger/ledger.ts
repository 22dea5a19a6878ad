/** What was ordered and what became of it, for one profile. The service keeps no list, so this is the only one. */
import { Attempts } from './attempts.ts';
import { type Database, openDatabase } from './database.ts';
import { Downloads } from './downloads.ts';
import { Files } from './files.ts';
import { migrations } from './schema.ts';
import { Words } from './words.ts';

export class Ledger {
  readonly attempts: Attempts;
  readonly files: Files;
  readonly downloads: Downloads;
  readonly words: Words;
  readonly #db: Database;

  private constructor(db: Database, profile: string) {
    this.#db = db;
    this.attempts = new Attempts(db, profile);
    this.files = new Files(db, profile);
    this.downloads = new Downloads(db, profile);
    this.words = new Words(db, profile);
  }

  static async open(path: string, profile: string): Promise<Ledger> {
    return new Ledger(await openDatabase(path, migrations), profile);
  }

  close(): void {
    this.#db.close();
  }
}
