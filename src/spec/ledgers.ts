/** The ledger as commands need it: of this machine or shared, made or only read, for money or for notes. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { KeptBudget } from '../ledger/budgets.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { LedgerNotes } from '../ledger/notes.ts';
import type { SharedLedgerOptions } from '../ledger/shared.ts';
import type { Waiting } from '../ledger/waiting.ts';
import type { Env } from '../lib/env.ts';
import { errorMessage, usage } from '../lib/errors.ts';
import type { Mask } from '../lib/mask.ts';
import { accountName } from '../lib/names.ts';
import type { Key } from '../settings/key.ts';
import { closeFolder, ledgerPath, makePrivateFolder, stateFolder } from '../settings/paths.ts';
import type { Settings } from '../settings/settings.ts';
import type { Output } from '../ui/output.ts';
import { type GlobalValues, SANDBOX } from './global-options.ts';

/** How often a command that runs for long checks whether its disk gets full. */
const ROOM_CHECK_MS = 60_000;
/** How often a command that runs for long checks whether a backup of the ledger is due. */
const BACKUP_CHECK_MS = 3_600_000;
/** How long a command that can do without a shared ledger waits for it. */
const READ_TIMEOUT_MS = 3_000;
/** How long a connection may take: some databases wake up first. It may be silent for as long. */
const LEDGER_TIMEOUT_MS = 30_000;

/** How a shared ledger is opened. */
interface SharedOptions {
  /** When it is connected to. */
  readonly connects?: 'now' | 'later';
  /** How long it may be waited for at most, whatever the URL says. */
  readonly limitMs?: number;
}

/** What a ledger is opened with: a command's context. */
interface Needed {
  readonly globals: GlobalValues;
  readonly env: Env;
  readonly signal: AbortSignal;
  readonly mask: Mask;
  readonly out: Output;
  /** Undefined where calls go to an account. */
  readonly sandbox: object | undefined;
  readonly settings: Settings;
  key(): Promise<Key | undefined>;
  onExit(cleanUp: () => void | Promise<void>): () => void;
}

export interface MoneyUse {
  /** What is sent, in words: `this upgrade`. */
  readonly what: string;
  readonly again: boolean;
  readonly test: boolean;
  /** Nothing is sent. */
  readonly dryRun?: boolean | undefined;
  /** A refund costs nothing. */
  readonly isFree?: boolean;
}

/** The folder of the ledger and the sandbox, which is made if it is not there. */
export function makeStateFolder(env: Env): string {
  const folder = stateFolder(env);
  makePrivateFolder(folder, 'STENO_STATE_DIR');
  return folder;
}

/** What a command line needs to mean the same profile: ` --profile acme`, or nothing. */
export const profileFlag = ({ globals, settings }: Pick<Needed, 'globals' | 'settings'>): string =>
  globals.profile === undefined ? '' : ` --profile ${settings.profileName}`;

export class Ledgers {
  readonly #context: Needed;
  #ledger: Promise<Ledger> | undefined;

  constructor(context: Needed) {
    this.#context = context;
  }

  /** None with --no-ledger. */
  async open(): Promise<Ledger | undefined> {
    if (!this.#context.globals.ledger) return undefined;
    this.#ledger ??= this.#openOwn();
    return this.#ledger;
  }

  /**
   * For a command that can't do without it; `use` says what for: `files reads the ledger`. A listener connects to a
   * shared one later, when it first uses it.
   */
  async required(use: string, connects: SharedOptions['connects'] = 'now'): Promise<Ledger> {
    if (!this.#context.globals.ledger) throw usage(`${use}, so it can't be used with --no-ledger`);
    this.#ledger ??= this.#openOwn({ connects });
    return this.#ledger;
  }

  /** For a command that can do without it: none is made, and one that can't be opened is only a warning. */
  async ifAny(): Promise<Ledger | undefined> {
    const { globals, out } = this.#context;
    try {
      if (!this.#isThere || !globals.ledger) return undefined;
      this.#ledger ??= this.#openOwn({ limitMs: READ_TIMEOUT_MS });
      return await this.#ledger;
    } catch (error) {
      await out.warn(`the ledger is not used: ${errorMessage(error)}`);
      return undefined;
    }
  }

  /**
   * For a command that costs or returns money; none with --no-ledger, where that is allowed. Whatever would hide the
   * purchase from others stops it.
   */
  async forMoney(use: MoneyUse): Promise<Ledger | undefined> {
    const { ledger, checked } = await this.openForMoney(use);
    await checked;
    return ledger;
  }

  /** `checked` is to be awaited before anything is sent: over a network it is one round trip with other questions. */
  async openForMoney(use: MoneyUse): Promise<{ ledger: Ledger | undefined; checked: Promise<void> }> {
    if (!this.#context.globals.ledger) await this.#checkWithoutLedger(use);
    this.#checkIsNamed();
    const ledger = await this.open();
    const checked = ledger ? this.#checkForOrders(ledger, use.dryRun) : Promise.resolve();
    checked.catch(() => {});
    await this.warnOfLittleRoom();
    return { ledger, checked };
  }

  /** Throws where the ledger is another account's, or has moved, or would leave orders of this machine behind. */
  async #checkForOrders(ledger: Ledger, isDryRun = false): Promise<void> {
    const { settings } = this.#context;
    const { db, profile: account, hide } = ledger;
    const url = this.sharedUrl;
    if (url !== undefined) {
      const { shownPostgresUrl } = await import('../lib/postgres-url.ts');
      const { refuseLeftBehind } = await import('../ledger/moved.ts');
      const flag = profileFlag(this.#context);
      const own = { path: this.localPath, profile: settings.profileName, profileFlag: flag, hide };
      await refuseLeftBehind(own, { identity: db.identity, account, to: shownPostgresUrl(url) });
    }
    await (await import('../ledger/accounts.ts')).prepareForOrders(ledger, isDryRun);
  }

  /** Without a ledger nothing is known of earlier purchases, others are not told of this one, and no budget counts it. */
  async #checkWithoutLedger(use: MoneyUse): Promise<void> {
    if (this.sharedUrl !== undefined && !use.again)
      throw usage(
        `--no-ledger would hide ${use.what} from everyone else who uses the shared ledger`,
        'leave out --no-ledger; add --again to send it without checking the ledger',
      );
    if (use.test || use.isFree) return;
    const { value, source } = this.#context.settings.get('budget');
    if (value === undefined && !(await this.#keptBudget())) return;
    const removal = source.startsWith('environment') ? 'unset STENO_BUDGET' : 'steno config unset budget';
    throw usage(
      "the budget is counted in the ledger, so --no-ledger can't be used under it",
      `leave out --no-ledger, or remove the budget: ${value === undefined ? 'steno budget unset' : removal}`,
    );
  }

  /** The budget that the ledger itself has. One that can't be read is no reason to stop: --no-ledger is for that. */
  async #keptBudget(): Promise<KeptBudget | undefined> {
    const { settings, mask } = this.#context;
    const url = this.sharedUrl;
    try {
      const view =
        url === undefined
          ? await (await import('../ledger/inspect.ts')).viewFile(
              this.localPath,
              settings.profileName,
              mask.hide,
            )
          : await (await import('../ledger/shared.ts')).viewShared(
              await this.sharedOptions(url, settings, READ_TIMEOUT_MS),
              mask.hide,
            );
      try {
        const { Budgets } = await import('../ledger/budgets.ts');
        return await (view && new Budgets(view.context).get());
      } finally {
        await view?.close();
      }
    } catch {
      return undefined;
    }
  }

  /** In CI a variable that is missing is often an empty one: the job would buy with an empty ledger of its own. */
  #checkIsNamed(): void {
    const { env, sandbox } = this.#context;
    if (sandbox || this.sharedUrl !== undefined || env.STENO_LEDGER !== '') return;
    throw usage(
      'STENO_LEDGER is set but empty: nothing says which ledger has your orders',
      'set it to the URL of the shared ledger, or unset it to use the ledger of this machine',
    );
  }

  /** Runs work that notes in the ledger what it can: trouble of the ledger does not stop it, and is one warning. */
  async whileNoting<T>(
    ledger: Ledger | undefined,
    work: (notes: LedgerNotes | undefined) => Promise<T>,
  ): Promise<T> {
    if (!ledger) return work(undefined);
    const { LedgerNotes } = await import('../ledger/notes.ts');
    const notes = new LedgerNotes(ledger, this.#context.signal);
    try {
      return await work(notes);
    } finally {
      const trouble = await notes.finish();
      const what = trouble?.lost ? 'the ledger could not record everything' : 'the ledger could not be read';
      if (trouble) await this.#context.out.warnOf(what, trouble.error);
    }
  }

  /** Warns once if the disk of the ledger is nearly full; a command that runs for long goes on looking. */
  async warnOfLittleRoom(): Promise<void> {
    if (!this.#context.globals.ledger || (await this.#warnIfRoomIsLow())) return;
    const timer = setInterval(async () => {
      if (await this.#warnIfRoomIsLow()) clearInterval(timer);
    }, ROOM_CHECK_MS).unref();
    this.#context.onExit(() => clearInterval(timer));
  }

  /** Tells whether it is. */
  async #warnIfRoomIsLow(): Promise<boolean> {
    const folder = makeStateFolder(this.#context.env);
    const { littleRoom, roomText } = await import('../lib/fs.ts');
    const left = littleRoom(folder);
    if (left === undefined) return false;
    await this.#context.out.warn(
      `the disk of the ledger is nearly full: ${roomText(left)} left for ${folder}`,
      'free space, or remove old events: steno ledger prune --before 90d',
    );
    return true;
  }

  /** Where the ledger of this machine is, or would be. */
  get localPath(): string {
    return ledgerPath(stateFolder(this.#context.env));
  }

  /** The URL of the shared ledger, where one is set. The sandbox never uses it. */
  get sharedUrl(): string | undefined {
    return this.#context.sandbox ? undefined : this.#context.settings.get('ledger').value;
  }

  /** What it takes to open the shared ledger at this URL, within a time limit; nothing is made by that. */
  async sharedOptions(
    url: string,
    settings = this.#context.settings,
    limitMs = Number.POSITIVE_INFINITY,
  ): Promise<SharedLedgerOptions> {
    const { env, out, globals, signal } = this.#context;
    const { readPostgresUrl } = await import('../lib/postgres-url.ts');
    settings.maskLedgerPassword(url);
    const address = readPostgresUrl(url, env);
    const folder = stateFolder(env);
    closeFolder(folder, 'STENO_STATE_DIR');
    return {
      address,
      password: () => settings.ledgerPassword(address, { timeoutMs: globals.timeout, signal }),
      timeoutMs: Math.min(address.connectTimeoutMs ?? LEDGER_TIMEOUT_MS, limitMs),
      queryTimeoutMs: Math.min(LEDGER_TIMEOUT_MS, limitMs),
      folder,
      onTrouble: (text, hint) => out.warn(text, hint),
      account: {
        name: accountName(settings.account.value ?? settings.profileName),
        isChosen: settings.get('account').value !== undefined,
        baseUrl: settings.get('base-url').value,
      },
    };
  }

  /** What listeners have received and the ledger does not have yet; no file is made for it. */
  async waiting(profile = this.#context.settings.profileName): Promise<Waiting> {
    const { env, out } = this.#context;
    const { Waiting, waitingPath } = await import('../ledger/waiting.ts');
    return new Waiting(waitingPath(stateFolder(env)), profile, (text, hint) => out.warn(text, hint));
  }

  /** Deletes what the ledger knows of the sandbox: it is void when the sandbox starts afresh. */
  async forgetSandbox(): Promise<void> {
    const { clearLedger } = await import('../ledger/prune.ts');
    if (this.#isThere) await clearLedger(await this.#open(SANDBOX));
    await (await this.waiting(SANDBOX)).removeGone();
  }

  get #isThere(): boolean {
    return this.sharedUrl !== undefined || existsSync(this.localPath);
  }

  async #openOwn(options: SharedOptions = {}): Promise<Ledger> {
    const { sandbox, out } = this.#context;
    const ledger = await this.#open(this.#context.settings.profileName, options);
    if (!sandbox) await this.#backUp(ledger);
    const { movedNotice, readMoved } = await import('../ledger/moved.ts');
    const moved = await readMoved(ledger);
    if (moved) await out.warn(...movedNotice(moved));
    return ledger;
  }

  /** Once a day; a command that runs for long checks again from time to time. */
  async #backUp(ledger: Ledger): Promise<void> {
    const path = ledger.db.file?.path;
    if (path === undefined) return;
    const { backUpIfDue } = await import('../ledger/stores/backups.ts');
    await backUpIfDue(path);
    const timer = setInterval(() => void backUpIfDue(path).catch(() => {}), BACKUP_CHECK_MS).unref();
    this.#context.onExit(() => clearInterval(timer));
  }

  async #open(profile: string, { connects, limitMs }: SharedOptions = {}): Promise<Ledger> {
    const url = this.sharedUrl;
    if (url === undefined || profile === SANDBOX) return this.#openLocal(profile);
    return this.openShared(await this.sharedOptions(url, undefined, limitMs), connects);
  }

  /** The ledger of this machine, also where a shared one is set; `ifNone`: it is not made, and what is said then. */
  async openLocal(ifNone?: { readonly use: string; readonly hint: string }): Promise<Ledger> {
    if (ifNone && !existsSync(this.localPath))
      throw usage(`there is no ledger ${ifNone.use} in ${dirname(this.localPath)}`, ifNone.hint);
    return this.#openLocal(this.#context.settings.profileName);
  }

  async #openLocal(profile: string): Promise<Ledger> {
    const { env, mask, signal, out } = this.#context;
    const { openLedger } = await import('../ledger/open.ts');
    const onTrouble = (text: string, hint?: string): Promise<void> => out.warn(text, hint);
    const path = ledgerPath(makeStateFolder(env));
    const ledger = await openLedger(path, profile, mask.hide, signal, onTrouble);
    this.#context.onExit(() => ledger.close());
    return ledger;
  }

  async openShared(
    options: SharedLedgerOptions,
    connects: SharedOptions['connects'] = 'now',
  ): Promise<Ledger> {
    const { openSharedLedger, openSharedLedgerLater } = await import('../ledger/open.ts');
    const open = connects === 'now' ? openSharedLedger : openSharedLedgerLater;
    const ledger = await open(options, this.#context.mask.hide);
    this.#context.onExit(() => ledger.close());
    return ledger;
  }
}
