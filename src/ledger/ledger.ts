/** What was ordered and what became of it, for one account. The service keeps no list, so this is the only one. */
import { dirname, join } from 'node:path';
import { accountName } from '../lib/names.ts';
import { secretMark } from '../lib/sealer.ts';
import { comparableBaseUrl } from '../lib/urls.ts';
import { isNewKey, KEY_ROWS, type KeyRow, keepSeparate, takeKey } from './account-keys.ts';
import { answerWriter } from './answers.ts';
import type { ImportOptions, TableCounts } from './dump/import.ts';
import type { Salvaged } from './dump/salvage.ts';
import type { LedgerView } from './inspect.ts';
import { LedgerTables } from './ledger-tables.ts';
import type { LocalPlace } from './left-behind.ts';
import { type Moved, movedError, readMoved, refuseMoved, removeMoved, setMoved } from './moved.ts';
import { LOCAL, type OnTrouble, Outbox } from './outbox.ts';
import type { Pruning } from './prune.ts';
import type { SharedLedgerOptions } from './shared.ts';
import { SqliteStore } from './sqlite-store.ts';
import type { LedgerStatus } from './status.ts';
import type { LedgerStore, Store } from './store.ts';
import type { Hide, TableContext } from './table.ts';

/** The folder of the outcomes that a local ledger could not take. */
const outcomesBeside = (path: string): string => join(dirname(path), 'outcomes');

export class Ledger extends LedgerTables {
  readonly #store: LedgerStore;
  readonly #profile: string;
  readonly #hide: Hide;
  #impatient: Ledger | undefined;
  /** Speed: SQLite has one store for all transactions, and to make the tables takes as long as to write eight events. */
  readonly #tablesIn = new WeakMap<Store, LedgerTables>();

  private constructor(store: LedgerStore, profile: string, hide: Hide, outbox?: Outbox) {
    super(store, profile, hide, outbox);
    this.#store = store;
    this.#profile = accountName(profile);
    this.#hide = hide;
  }

  /** The ledger of this machine. What it could not take before is handed over first. */
  static async open(
    path: string,
    profile: string,
    hide: Hide,
    signal?: AbortSignal,
    onTrouble: OnTrouble = async () => {},
  ): Promise<Ledger> {
    const outbox = new Outbox(outcomesBeside(path), () => ({ account: profile, ledger: LOCAL }));
    const ledger = new Ledger(await SqliteStore.open(path, signal), profile, hide, outbox);
    await outbox.handOver((kept) => ledger.purchases.take(kept), onTrouble);
    return ledger;
  }

  /** A ledger that several machines use. */
  static async openShared(options: SharedLedgerOptions, hide: Hide): Promise<Ledger> {
    const { openSharedStore } = await import('./postgres/open-store.ts');
    const { account, outcomes } = options;
    const store = await openSharedStore(options);
    const outbox = new Outbox(outcomes, () => ({ account: account.name, ledger: store.identity }));
    const ledger = new Ledger(store, account.name, hide, outbox);
    await outbox.handOver((kept) => ledger.purchases.take(kept), options.onTrouble);
    return ledger;
  }

  /** The same for a listener, which starts though the database can't be reached: connected to when it is first used. */
  static async openSharedLater(options: SharedLedgerOptions, hide: Hide): Promise<Ledger> {
    const { unconnectedStore } = await import('./postgres/open-store.ts');
    return new Ledger(unconnectedStore(options), options.account.name, hide);
  }

  /** Of a local ledger; none is made. */
  static async statusOfFile(
    path: string,
    profile: string,
    hide: Hide,
    signal: AbortSignal,
  ): Promise<LedgerStatus> {
    const { statusOfFile } = await import('./status.ts');
    return statusOfFile(path, { profile: accountName(profile), hide }, signal);
  }

  /** Of a shared ledger, of whatever version; none is made. */
  static async statusOfShared(options: SharedLedgerOptions, hide: Hide): Promise<LedgerStatus> {
    const { statusOfShared } = await import('./postgres/inspect.ts');
    return statusOfShared(options, hide);
  }

  /** Opens a local ledger for looking; undefined where there is none. */
  static async viewFile(path: string, profile: string, hide: Hide): Promise<LedgerView | undefined> {
    const { viewFile } = await import('./inspect.ts');
    return viewFile(path, accountName(profile), hide);
  }

  /** The same for a shared one. */
  static async viewShared(options: SharedLedgerOptions, hide: Hide): Promise<LedgerView> {
    const { viewShared } = await import('./postgres/inspect.ts');
    return viewShared(options, hide);
  }

  /** Brings a shared ledger up to date; gives the names of the migrations that it lacked. */
  static async migrateShared(options: SharedLedgerOptions): Promise<readonly string[]> {
    const { migrateShared } = await import('./postgres/inspect.ts');
    return migrateShared(options);
  }

  /** Moves the account of a shared ledger to another service; gives the one that it belonged to. */
  static async changeAccount(options: SharedLedgerOptions, baseUrl: string): Promise<string | undefined> {
    const { changeAccount } = await import('./postgres/inspect.ts');
    return changeAccount(options, baseUrl);
  }

  /** What can be read of a damaged ledger, as the lines of an export. Nothing is written to it. */
  static async *salvage(
    path: string,
    hide: Hide,
    onTable: (salvaged: Salvaged) => void,
  ): AsyncGenerator<string> {
    const { salvageFile } = await import('./dump/salvage.ts');
    yield* salvageFile(path, hide, onTable);
  }

  /** The same ledger for work that can do without it: waits for other processes only some seconds in all. */
  impatient(signal: AbortSignal): Ledger {
    this.#impatient ??= new Ledger(this.#store.impatient(signal), this.#profile, this.#hide);
    return this.#impatient;
  }

  /** A second connection, for events: every commit is durable, a lock is an error at once, and the first use connects. */
  async another(): Promise<Ledger> {
    return new Ledger(await this.#store.another(), this.#profile, this.#hide);
  }

  /**
   * The same for this one, after its file was replaced or its connection lost. Where there is none, none is made: that
   * throws. Gives whether it is another ledger.
   */
  reopen(): Promise<boolean> {
    return this.#store.reopen();
  }

  /** Whose rows it shows and changes. */
  get accountName(): string {
    return this.#profile;
  }

  /** Whether its file is still at its path, or it is connected. */
  get isInPlace(): boolean {
    return this.#store.isInPlace;
  }

  /** Whether the error is about the database itself, which no work can use now; the work is not what is wrong. */
  isDown(error: unknown): boolean {
    return this.#store.isDown(error);
  }

  /** For a listener that ends: from now on a database that is silent for this long is given up. */
  endWithin(silenceMs: number): void {
    this.#store.endWithin(silenceMs);
  }

  /** Throws if the file was deleted or replaced: what is written to it now would be lost. */
  checkInPlace(): void {
    this.#store.checkInPlace();
  }

  /** Takes answers of the service about files, and writes them when it is time. */
  answerWriter(): ReturnType<typeof answerWriter> {
    return answerWriter(this.files, this.#store.isShared);
  }

  /**
   * Throws where no order may be placed with this ledger. `keyMark`: of the service and the key that it would be placed
   * with, undefined where that is not known.
   */
  async prepareForOrders(isDryRun: boolean, keyMark?: string): Promise<void> {
    await this.checkNotMoved();
    await this.#store.prepareForOrders(isDryRun, keyMark);
    if (this.#store.isShared || keyMark === undefined) return;
    const user = { name: this.#profile, mark: keyMark, isShared: false };
    const rows = await this.#store.all<KeyRow>(KEY_ROWS);
    if (isDryRun) isNewKey(rows, user);
    else await takeKey(this.#store, user, rows);
  }

  /** The mark of a service and a key, by which this ledger knows them again; the same on all machines that share it. */
  async keyMark(baseUrl: string, key: string): Promise<string> {
    const salt = this.#store.isShared ? this.#store.identity : await this.properties.salt();
    return secretMark(key, salt, comparableBaseUrl(baseUrl));
  }

  /** From now on this account or profile may order with the key of another. */
  keepSeparate(other: string): Promise<void> {
    return keepSeparate(this.#store, this.#profile, other);
  }

  /** Tells a shared ledger from every other. */
  get identity(): string {
    return this.#store.identity;
  }

  /** Throws where the local ledger has orders that this shared one was not given. */
  async refuseLeftBehind(local: Omit<LocalPlace, 'hide'>, to: string): Promise<void> {
    const { refuseLeftBehind } = await import('./left-behind.ts');
    await refuseLeftBehind(
      { ...local, hide: this.#hide },
      { identity: this.#store.identity, account: this.#profile, to },
    );
  }

  /** Of a local ledger: its orders are no concern of the shared one. */
  async leaveFor({ identity, profile: account }: Pick<Ledger, 'identity' | 'profile'>): Promise<void> {
    const { leftProperty } = await import('./left-behind.ts');
    const name = leftProperty(this.#profile, { identity, account });
    await this.properties.set(name, new Date().toISOString());
  }

  /** Whose rows these are: a profile, or an account. */
  get profile(): string {
    return this.#profile;
  }

  /** Where this profile has moved to; undefined if it has not. */
  moved(): Promise<Moved | undefined> {
    return readMoved(this.#context());
  }

  /** Throws where what is written now would be missing from the ledger that took the place of this one. */
  checkNotMoved(): Promise<void> {
    return refuseMoved(this.#store, this.#profile);
  }

  /** Marks this profile as about to move, if the check finds nothing against it; on disk when this resolves. */
  markMoved(moved: Moved, check: (tables: LedgerTables) => Promise<void>): Promise<void> {
    return this.#store.durable(async (db) => {
      const context = this.#context(db);
      const before = await readMoved(context);
      if (before && (before.identity !== moved.identity || before.account !== moved.account))
        throw movedError(before);
      await check(new LedgerTables(db, this.#profile, this.#hide));
      if (!before) await setMoved(context, { ...moved, unfinished: true });
    });
  }

  /** All rows are in the shared ledger: from now on people are sent there. */
  async finishMove(): Promise<void> {
    await this.#store.durable(async (db) => {
      const context = this.#context(db);
      const { unfinished, ...moved } = (await readMoved(context)) ?? {};
      if (unfinished) await setMoved(context, moved as Moved);
    });
  }

  async unmarkMoved(db: Store = this.#store): Promise<void> {
    await removeMoved(this.#context(db));
  }

  #context(db: Store = this.#store): TableContext {
    return { db, profile: this.#profile, hide: this.#hide };
  }

  /** Does all of the work or none of it; the work must use the tables that it is given, which are in the transaction. */
  transaction<Result>(work: (tables: LedgerTables) => Promise<Result>): Promise<Result> {
    return this.#store.transaction((store) => {
      const tables = this.#tablesIn.get(store) ?? new LedgerTables(store, this.#profile, this.#hide);
      this.#tablesIn.set(store, tables);
      return work(tables);
    });
  }

  /** A number that changes when another process may have written. */
  version(): Promise<number> {
    return this.#store.version();
  }

  /** Deletes everything of this profile. */
  async clear(): Promise<void> {
    await this.#store.transaction(async (store) => {
      const ofEvents = 'WHERE event IN (SELECT id FROM events WHERE profile = ?)';
      const statements = [
        ...['claims', 'purchase_names', 'purchase_items', 'settlements'].map(
          (table) => `DELETE FROM ${table} WHERE purchase IN (SELECT id FROM purchases WHERE profile = ?)`,
        ),
        `DELETE FROM actions ${ofEvents}`,
        `DELETE FROM event_files ${ofEvents}`,
        ...[
          'purchases',
          'files',
          'downloads',
          'events',
          'kept_invoices',
          'invoice_lines',
          'uploads',
          'budgets',
          'ignored_audio',
        ].map((table) => `DELETE FROM ${table} WHERE profile = ?`),
      ];
      for (const sql of statements) await store.run(sql, this.#profile);
    });
  }

  /** The ledger as JSON lines, several at a time. */
  async *exportLines(allProfiles: boolean): AsyncGenerator<string> {
    const { exportLines } = await import('./dump/export.ts');
    const snapshot = await this.#store.snapshot();
    try {
      yield* exportLines(snapshot, allProfiles ? undefined : this.#profile, this.#hide);
    } finally {
      await snapshot.end();
    }
  }

  /** Takes such lines in, all or none: none if the signal fires. */
  async importLines(source: AsyncIterable<Uint8Array>, options: ImportOptions): Promise<TableCounts[]> {
    const { importLines } = await import('./dump/import.ts');
    return importLines(this.#store, source, this.#hide, options);
  }

  /** Removes received history of one profile. */
  async pruning(profile = this.#profile): Promise<Pruning> {
    const { Pruning } = await import('./prune.ts');
    return new Pruning({ db: this.#store, profile, hide: this.#hide }, this.#store.file);
  }

  /** Has a backup made in the background, if it is time for one. */
  async backUpIfDue(): Promise<void> {
    const path = this.#store.file?.path;
    if (path === undefined) return;
    const { isBackupDue, startBackup } = await import('./backups.ts');
    if (isBackupDue(path)) startBackup(path);
  }

  /** Every profile that has rows. */
  async profiles(): Promise<string[]> {
    const tables = ['purchases', 'files', 'downloads', 'events', 'runs'];
    const all = tables.map((table) => `SELECT profile FROM ${table}`).join(' UNION ');
    const rows = await this.#store.all<{ profile: string }>(`${all} ORDER BY profile`);
    return rows.map(({ profile }) => profile);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
