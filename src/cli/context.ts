/** What a command is given. Each part is opened when a command first asks for it: most need few of them. */
import { existsSync } from 'node:fs';
import type { PublicReading } from '../api/http/keyless.ts';
import type { Trace, Transport } from '../api/http/transport.ts';
import type { CommandNode } from '../completion/model.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { LedgerNotes, NotesTrouble } from '../ledger/notes.ts';
import type { SharedLedgerOptions } from '../ledger/shared.ts';
import type { Spool } from '../ledger/spool.ts';
import { accountName } from '../lib/account-name.ts';
import { formatDuration } from '../lib/duration.ts';
import { type Env, withoutProxies } from '../lib/env.ts';
import { errorMessage, StenoError, usage } from '../lib/errors.ts';
import { Mask } from '../lib/mask.ts';
import type { Sandbox } from '../sandbox/index.ts';
import { type CommandLimits, type Key, maskGivenKeys, noKeyError } from '../settings/key.ts';
import { ledgerPath, makePrivateFolder, spoolPath, stateFolder } from '../settings/paths.ts';
import { Settings, type SettingsOptions } from '../settings/settings.ts';
import { Output } from '../ui/output.ts';
import { type CleanUp, CleanUps } from './clean-ups.ts';
import { type ConnectOptions, connect, userAgent } from './connect.ts';
import { checkSandboxFlags, SANDBOX, warnOfKeyFlag } from './global-flags.ts';
import type { GlobalValues } from './global-options.ts';
import type { MoneyUse } from './money-ledger.ts';
import { warnIfRoomIsLow } from './room-warning.ts';
import { sharedLedgerOptions } from './shared-ledger.ts';

/** How often a command that runs for long looks whether its disk gets full. */
const ROOM_CHECK_MS = 60_000;
/** How often a command that runs for long looks whether a backup of the ledger is due. */
const BACKUP_CHECK_MS = 3_600_000;
/** Of a line of --debug. */
const MAX_DEBUG_LENGTH = 4000;
/** How long a command that can do without a shared ledger waits for it. */
const READ_TIMEOUT_MS = 3_000;

/** How a shared ledger is opened. */
interface SharedOptions {
  /** When it is connected to. */
  readonly connects?: 'now' | 'later';
  /** How long it may be waited for at most, whatever the URL says. */
  readonly limitMs?: number;
}

/** What the process hands down. */
export interface Edges {
  readonly env: Env;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly signal: AbortSignal;
  /** The user interrupted a second time. */
  readonly hardSignal: AbortSignal;
}

/** Whom to connect as; without a base URL, that of the settings. */
interface Account {
  readonly settings: Settings;
  readonly apiKey: string;
  readonly keySource?: string | undefined;
  readonly baseUrl?: string | undefined;
}

export class Context {
  readonly globals: GlobalValues;
  readonly commandTree: () => Promise<CommandNode>;
  readonly env: Env;
  readonly signal: AbortSignal;
  readonly mask = new Mask();
  readonly out: Output;
  sandbox: Sandbox | undefined;
  readonly #edges: Edges;
  readonly #cleanUps = new CleanUps();
  #settings: Settings | undefined;
  #key: Promise<Key | undefined> | undefined;
  #ledger: Promise<Ledger> | undefined;

  /** `commandTree` gives all commands; completion scripts are made from it. */
  constructor(globals: GlobalValues, edges: Edges, commandTree: () => Promise<CommandNode>) {
    this.globals = globals;
    this.commandTree = commandTree;
    this.env = edges.env;
    this.#edges = edges;
    this.signal = edges.signal;
    maskGivenKeys(this.mask, globals.apiKey, edges.env);
    this.out = new Output(edges, {
      mode: { ...globals, noColor: !globals.color },
      env: edges.env,
      hide: this.mask.hide,
    });
  }

  /** Opened on first use, because node needs some milliseconds for it. */
  get stdin(): NodeJS.ReadStream {
    return this.#edges.stdin;
  }

  /** Whether calls go to the sandbox: because of the flag, or of the profile's name. */
  get inSandbox(): boolean {
    const { sandbox, profile } = this.globals;
    return sandbox || accountName(profile ?? this.env.STENO_PROFILE ?? '') === SANDBOX;
  }

  /** Starts the sandbox, if calls go to it; warns of a key in the command line. */
  async open({ makesNoFile }: { readonly makesNoFile?: true }): Promise<void> {
    if (this.inSandbox) checkSandboxFlags(this.globals);
    if (this.globals.apiKey) await warnOfKeyFlag(this.out);
    if (!this.inSandbox) return;
    const { startSandbox, hasStore } = await import('../sandbox/index.ts');
    const isKept = !makesNoFile || hasStore(stateFolder(this.env));
    this.sandbox = await startSandbox({ ...(isKept && { folder: this.stateFolder }), setsClock: true });
    this.onExit(() => this.sandbox?.close());
  }

  get stateFolder(): string {
    const folder = stateFolder(this.env);
    makePrivateFolder(folder, 'STENO_STATE_DIR');
    return folder;
  }

  get settings(): Settings {
    this.#settings ??= this.readSettings();
    return this.#settings;
  }

  /** Reads the settings anew; `newProfile` accepts a profile that is about to be made. */
  readSettings(how: Pick<SettingsOptions, 'newProfile' | 'profiles'> = {}): Settings {
    const { globals, env, mask } = this;
    const { sandbox } = this;
    const timeout = globals.timeout === undefined ? undefined : formatDuration(globals.timeout);
    if (sandbox) {
      const flags = { 'base-url': sandbox.baseUrl, 'api-key': sandbox.apiKey, timeout };
      return new Settings({
        flags,
        flagSource: SANDBOX,
        profile: SANDBOX,
        ...how,
        newProfile: true,
        env,
        mask,
      });
    }
    const flags = { 'base-url': globals.baseUrl, 'api-key': globals.apiKey, timeout };
    return new Settings({ flags, profile: globals.profile, ...how, env, mask });
  }

  /** A command that prints it is run once. */
  async key(): Promise<Key | undefined> {
    this.#key ??= this.settings.key(this.commandLimits);
    return this.#key;
  }

  async requireKey(): Promise<Key> {
    const key = await this.key();
    if (!key) throw noKeyError(this.env);
    return key;
  }

  /** How long a command that prints the key may run. */
  get commandLimits(): CommandLimits {
    return { timeoutMs: this.globals.timeout, signal: this.signal };
  }

  /** Opens a connection to the service; it is closed when the program ends. */
  async connect(options: ConnectOptions = {}): Promise<Transport> {
    const { value: apiKey, source: keySource } = await this.requireKey();
    return this.connectAs({ settings: this.settings, apiKey, keySource }, options);
  }

  /** The same as an account that the settings do not hold yet. */
  async connectAs(account: Account, options: ConnectOptions = {}): Promise<Transport> {
    const { settings, apiKey, keySource, baseUrl = settings.get('base-url').value } = account;
    const { timeoutBounds = 'request', signal = this.signal, connections } = options;
    const env = this.sandbox ? withoutProxies(this.env) : this.env;
    const transport = await connect({
      ...{ settings, baseUrl, apiKey, keySource, env, signal },
      hardSignal: this.#edges.hardSignal,
      onFinishing: (text) => this.out.stderr.notice(text),
      timeoutFlag: this.globals.timeout,
      timeoutBounds,
      connections,
      hide: this.mask.hide,
      trace: this.#trace,
    });
    this.onExit(() => transport.close());
    return transport;
  }

  get #trace(): Trace | undefined {
    return this.out.mode.debug
      ? (line) => this.out.stderr.writeLine(`debug: ${line}`, MAX_DEBUG_LENGTH)
      : undefined;
  }

  /** How a public address is read, such as that of a feed: without the key, not over the connection to the service. */
  get publicReading(): PublicReading {
    const { env, signal } = this;
    return {
      env: this.sandbox ? withoutProxies(env) : env,
      signal,
      userAgent: userAgent(),
      trace: this.#trace,
    };
  }

  /** Where a feed is: `sample` is that of the sandbox. */
  feedSource(given: string): string {
    return this.sandbox && given === 'sample' ? new URL('/feed.xml', this.sandbox.baseUrl).href : given;
  }

  /** The ledger; none with --no-ledger. */
  async ledger(): Promise<Ledger | undefined> {
    if (!this.globals.ledger) return undefined;
    this.#ledger ??= this.#openOwnLedger();
    return this.#ledger;
  }

  async #openOwnLedger(options: SharedOptions = {}): Promise<Ledger> {
    const ledger = await this.#openLedger(undefined, options);
    if (!this.inSandbox) await this.#backUp(ledger);
    const { movedNotice, readMoved } = await import('../ledger/moved.ts');
    const moved = await readMoved(ledger);
    if (moved) await this.out.warn(...movedNotice(moved));
    return ledger;
  }

  /** Once a day; a command that runs for long looks again from time to time. */
  async #backUp(ledger: Ledger): Promise<void> {
    const path = ledger.db.file?.path;
    if (path === undefined) return;
    const { backUpIfDue } = await import('../ledger/stores/backups.ts');
    await backUpIfDue(path);
    const timer = setInterval(() => void backUpIfDue(path).catch(() => {}), BACKUP_CHECK_MS).unref();
    this.onExit(() => clearInterval(timer));
  }

  /** The ledger for a command that can't do without it; `use` says what for: `files reads the ledger`. */
  async requireLedger(use: string): Promise<Ledger> {
    const ledger = await this.ledger();
    if (!ledger) throw usage(`${use}, so it can't be used with --no-ledger`);
    return ledger;
  }

  /**
   * By which a ledger knows the service and the key again; undefined where there is none, and in the sandbox. The command
   * that prints the key is run only for what is sent.
   */
  async keyMark(ledger: Ledger | undefined, sends: boolean): Promise<string | undefined> {
    if (!ledger || this.inSandbox) return undefined;
    const baseUrl = this.settings.get('base-url').value;
    const key = sends ? (await this.key())?.value : this.settings.get('api-key').value;
    if (baseUrl === undefined || key === undefined) return undefined;
    return (await import('../ledger/accounts.ts')).keyMark(ledger, baseUrl, key);
  }

  /** What a command line needs to mean the same profile: ` --profile acme`, or nothing. */
  get profileFlag(): string {
    return this.globals.profile === undefined ? '' : ` --profile ${this.settings.profileName}`;
  }

  /** The same for a listener: one that is reached over a network is connected to when it is first used. */
  async requireLedgerLater(use: string): Promise<Ledger> {
    if (this.globals.ledger) this.#ledger ??= this.#openOwnLedger({ connects: 'later' });
    return this.requireLedger(use);
  }

  /** The ledger for a command that can do without it: none is made, and one that can't be opened is only a warning. */
  async ledgerIfAny(): Promise<Ledger | undefined> {
    try {
      if (!this.#hasLedger || !this.globals.ledger) return undefined;
      this.#ledger ??= this.#openOwnLedger({ limitMs: READ_TIMEOUT_MS });
      return await this.#ledger;
    } catch (error) {
      await this.out.warn(`the ledger is not used: ${errorMessage(error)}`);
      return undefined;
    }
  }

  /** The ledger for a command that costs or returns money; none with --no-ledger, where that is allowed. */
  async moneyLedger(use: MoneyUse): Promise<Ledger | undefined> {
    const { checkMoneyLedger, refuseLeftBehind } = await import('./money-ledger.ts');
    await checkMoneyLedger(this, use);
    const ledger = await this.ledger();
    await refuseLeftBehind(this, ledger);
    await this.warnOfLittleRoom();
    return ledger;
  }

  /** Where the ledger of this machine is, or would be. */
  get localLedgerPath(): string {
    return ledgerPath(stateFolder(this.env));
  }

  /** Warns once if the disk of the ledger is nearly full; a command that runs for long goes on looking. */
  async warnOfLittleRoom(): Promise<void> {
    if (!this.globals.ledger || (await warnIfRoomIsLow(this.stateFolder, this.out))) return;
    const timer = setInterval(async () => {
      if (await warnIfRoomIsLow(this.stateFolder, this.out)) clearInterval(timer);
    }, ROOM_CHECK_MS).unref();
    this.onExit(() => clearInterval(timer));
  }

  /** Runs work that notes in the ledger what it can: trouble of the ledger does not stop it, and is one warning. */
  async whileNoting<T>(
    ledger: Ledger | undefined,
    work: (notes: LedgerNotes | undefined) => Promise<T>,
  ): Promise<T> {
    if (!ledger) return work(undefined);
    const { LedgerNotes } = await import('../ledger/notes.ts');
    const notes = new LedgerNotes(ledger, this.signal);
    try {
      return await work(notes);
    } finally {
      const trouble = await notes.finish();
      if (trouble) await this.#warnOfNotes(trouble);
    }
  }

  async #warnOfNotes({ error, lost }: NotesTrouble): Promise<void> {
    const what = lost ? 'what was done is not all noted in the ledger' : 'the ledger could not be read';
    const { hint } = error instanceof StenoError ? error : {};
    await this.out.warn(`${what}: ${errorMessage(error)}`, hint);
  }

  /** Whether any listener has used the spool; most commands need not load what reads it. */
  get hasSpool(): boolean {
    return existsSync(spoolPath(stateFolder(this.env)));
  }

  /** What listeners have received and not yet moved into the ledger. */
  async spool(profile = this.settings.profileName): Promise<Spool> {
    const { Spool } = await import('../ledger/spool.ts');
    const onWarning = (text: string, hint?: string): void => void this.out.warn(text, hint);
    return new Spool(spoolPath(this.stateFolder), profile, onWarning);
  }

  /** Deletes what the ledger knows of the sandbox: it is void when the sandbox starts afresh. */
  async forgetSandbox(): Promise<void> {
    const { clearLedger } = await import('../ledger/prune.ts');
    if (this.#hasLedger) await clearLedger(await this.#openLedger(SANDBOX));
    if (this.hasSpool) await (await this.spool(SANDBOX)).removeLeft();
  }

  get #hasLedger(): boolean {
    return this.sharedLedger !== undefined || existsSync(ledgerPath(stateFolder(this.env)));
  }

  async #openLedger(
    profile = this.settings.profileName,
    { connects = 'now', limitMs }: SharedOptions = {},
  ): Promise<Ledger> {
    const { openLedger, openSharedLedger, openSharedLedgerLater } = await import('../ledger/open.ts');
    const url = this.sharedLedger;
    const openShared = connects === 'now' ? openSharedLedger : openSharedLedgerLater;
    const ledger =
      url === undefined || profile === SANDBOX
        ? await openLedger(ledgerPath(this.stateFolder), profile, this.mask.hide, this.signal, (text, hint) =>
            this.out.warn(text, hint),
          )
        : await openShared(await this.sharedLedgerOptions(url, this.settings, limitMs), this.mask.hide);
    this.onExit(() => ledger.close());
    return ledger;
  }

  /** The URL of the shared ledger, where one is set. The sandbox never uses it. */
  get sharedLedger(): string | undefined {
    return this.inSandbox ? undefined : this.settings.get('ledger').value;
  }

  /** What it takes to open the shared ledger at this URL, within a time limit; nothing is made by that. */
  sharedLedgerOptions(url: string, settings = this.settings, limitMs?: number): Promise<SharedLedgerOptions> {
    return sharedLedgerOptions(this, settings, url, limitMs);
  }

  /** Registers what must be undone when the program ends, also when it crashes; returns what cancels it. */
  onExit(cleanUp: CleanUp): () => void {
    return this.#cleanUps.add(cleanUp);
  }

  async dispose(): Promise<void> {
    await this.#cleanUps.run();
  }
}
