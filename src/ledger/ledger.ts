/** What was ordered and what became of it, for one profile. The service keeps no list, so this is the only one. */

import { cutSignatures } from '../lib/audio-identity.ts';
import { StenoError } from '../lib/errors.ts';
import { type Database, openDamaged, openDatabase } from '../lib/sqlite.ts';
import { sizeOf } from '../lib/sqlite-file.ts';
import { OpenedFile } from '../lib/sqlite-replaced.ts';
import { Actions } from './actions.ts';
import { Attempts } from './attempts.ts';
import { rescueHint, restoreHint } from './backups.ts';
import { Claims } from './claims.ts';
import { Downloads } from './downloads.ts';
import type { TableCounts } from './dump/import.ts';
import type { Salvaged } from './dump/salvage.ts';
import { EventEffects } from './event-effects.ts';
import { Events } from './events.ts';
import { ExpectedEvents } from './expected-events.ts';
import { Files } from './files.ts';
import { OpenAttempts } from './open-attempts.ts';
import { Patience } from './patience.ts';
import { CLEANED_KEYS, Properties } from './properties.ts';
import type { Pruning } from './prune.ts';
import { Runs } from './runs.ts';
import { migrations } from './schema.ts';
import type { Hide } from './table.ts';
import { TrackedFiles } from './tracked-files.ts';
import { WebhookLoans } from './webhook-loans.ts';

export class Ledger {
  readonly attempts: Attempts;
  readonly openAttempts: OpenAttempts;
  readonly trackedFiles: TrackedFiles;
  readonly claims: Claims;
  readonly files: Files;
  readonly downloads: Downloads;
  readonly events: Events;
  readonly eventEffects: EventEffects;
  readonly expectedEvents: ExpectedEvents;
  readonly actions: Actions;
  readonly runs: Runs;
  readonly webhookLoans: WebhookLoans;
  readonly properties: Properties;
  readonly #db: Database;
  readonly #profile: string;
  readonly #hide: Hide;
  readonly #patience = new Patience();
  /** Of one that can be opened anew. */
  #opened: OpenedFile | undefined;

  private constructor(db: Database, profile: string, hide: Hide) {
    this.#db = db;
    this.#profile = profile;
    this.#hide = hide;
    const context = { db, profile, hide: (text: string) => cutSignatures(hide(text)) };
    this.attempts = new Attempts(context);
    this.openAttempts = new OpenAttempts(context);
    this.trackedFiles = new TrackedFiles(context);
    this.claims = new Claims(context);
    this.files = new Files(context);
    this.downloads = new Downloads(context);
    this.events = new Events(context);
    this.eventEffects = new EventEffects(context);
    this.expectedEvents = new ExpectedEvents(context);
    this.actions = new Actions(context);
    this.runs = new Runs(context);
    this.webhookLoans = new WebhookLoans(context);
    this.properties = new Properties(context);
  }

  static async open(path: string, profile: string, hide: Hide, signal?: AbortSignal): Promise<Ledger> {
    return new Ledger(
      await openDatabase(path, migrations, {
        hintIfEmpty: () => restoreHint(path),
        hintIfDamaged: () => rescueHint(path),
        signal,
      }),
      profile,
      hide,
    );
  }

  /** What can be read of a damaged ledger, as the lines of an export. Nothing is written to it. */
  static async *salvage(
    path: string,
    hide: Hide,
    onTable: (salvaged: Salvaged) => void,
  ): AsyncGenerator<string> {
    const { salvageLines } = await import('./dump/salvage.ts');
    const db = await openDamaged(path, () => restoreHint(path));
    try {
      yield* salvageLines(db, hide, onTable);
    } finally {
      db.close();
    }
  }

  /** A second connection, for events: every commit is synced to disk, and a lock is an error at once. */
  async openNonBlocking(): Promise<Ledger> {
    const { path } = this.#db;
    const ledger = new Ledger(await openNonBlocking(path), this.#profile, this.#hide);
    ledger.#opened = new OpenedFile(path);
    return ledger;
  }

  /** The same for this one, after its file was replaced. Where there is none, none is made: that throws. */
  async reopenNonBlocking(): Promise<void> {
    const { path } = this.#db;
    if (sizeOf(path) === undefined) this.checkInPlace();
    this.#opened?.checkLog();
    this.#db.replaceBy(await openNonBlocking(path));
    this.#opened?.close();
    this.#opened = new OpenedFile(path);
  }

  /** Whether its file is still at its path. */
  get isInPlace(): boolean {
    return this.#db.isInPlace();
  }

  /**
   * Earlier versions kept the key in clear: takes it out on the first use with it. Where that can't be done now (a lock,
   * a full disk), the next use does it.
   */
  async takeKeyOut(key: string): Promise<void> {
    try {
      if (this.properties.get(CLEANED_KEYS) === undefined) return;
      const { takeKeyOut } = await import('./secret-cleaning.ts');
      const cleaning = { database: this.#db, properties: this.properties, profile: this.#profile };
      this.#db.withoutBlocking(() => takeKeyOut({ ...cleaning, key, hide: this.#hide }));
    } catch {
      // Nothing of the ledger is lost by that.
    }
  }

  /** Throws if the file was deleted or replaced: what is written to it now would be lost. */
  checkInPlace(): void {
    if (!this.isInPlace)
      throw new StenoError('failed', `${this.#db.path} was deleted or replaced while it was in use`);
  }

  /** Does all of the work or none of it. */
  transaction<Result>(work: () => Result): Result {
    return this.#db.transaction(work);
  }

  /** Does the work as soon as no other process holds the ledger; gives up after some seconds of waiting in all. */
  whenFree<Result>(work: () => Result, signal: AbortSignal): Promise<Result> {
    return this.#patience.whenFree(() => this.#db.withoutBlocking(work), signal);
  }

  /** A number that changes when another connection has written. */
  get version(): number {
    return this.#db.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
  }

  /** Deletes everything of this profile. */
  clear(): void {
    this.#db.transaction(() => {
      const ofEvents = 'WHERE event IN (SELECT id FROM events WHERE profile = ?)';
      const statements = [
        ...['claims', 'attempt_names', 'attempt_urls'].map(
          (table) => `DELETE FROM ${table} WHERE attempt IN (SELECT id FROM attempts WHERE profile = ?)`,
        ),
        `DELETE FROM actions ${ofEvents}`,
        `DELETE FROM event_files ${ofEvents}`,
        ...['attempts', 'orders', 'files', 'downloads', 'events'].map(
          (table) => `DELETE FROM ${table} WHERE profile = ?`,
        ),
      ];
      for (const sql of statements) this.#db.run(sql, this.#profile);
    });
  }

  /** The ledger as JSON lines, several at a time; nothing else may use this ledger meanwhile. */
  async *exportLines(allProfiles: boolean): AsyncGenerator<string> {
    const { exportLines } = await import('./dump/export.ts');
    yield* exportLines(this.#db, allProfiles ? undefined : this.#profile, this.#hide);
  }

  /** Takes such lines in, all or none: none if the signal fires. Nothing else may use this ledger meanwhile. */
  async importLines(source: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<TableCounts[]> {
    const { importLines } = await import('./dump/import.ts');
    return importLines(this.#db, source, this.#hide, signal);
  }

  /** Removes received history of one profile. */
  async pruning(profile = this.#profile): Promise<Pruning> {
    const { Pruning } = await import('./prune.ts');
    return new Pruning({ db: this.#db, profile, hide: this.#hide }, this.#db);
  }

  /** Has a backup made in the background, if it is time for one. */
  async backUpIfDue(): Promise<void> {
    const { isBackupDue, startBackup } = await import('./backups.ts');
    if (isBackupDue(this.#db.path)) startBackup(this.#db.path);
  }

  /** Whether a listener of any profile runs. */
  isListenedTo(): boolean {
    return this.profiles().some(
      (profile) => new Runs({ db: this.#db, profile, hide: this.#hide }).running().length > 0,
    );
  }

  /** Every profile that has rows. */
  profiles(): string[] {
    const tables = ['attempts', 'orders', 'files', 'downloads', 'events', 'runs'];
    const all = tables.map((table) => `SELECT profile FROM ${table}`).join(' UNION ');
    return this.#db.all<{ profile: string }>(`${all} ORDER BY profile`).map(({ profile }) => profile);
  }

  close(): void {
    this.#db.close();
  }
}

async function openNonBlocking(path: string): Promise<Database> {
  const db = await openDatabase(path, migrations, { hintIfDamaged: () => rescueHint(path) });
  db.setBusyTimeout(0);
  db.syncEveryCommit();
  return db;
}
