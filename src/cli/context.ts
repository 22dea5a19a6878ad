/** What a command is given. Each part is made when it is first asked for: most commands need few of them. */
import { existsSync } from 'node:fs';
import type { Transport } from '../api/http/transport.ts';
import type { CommandNode } from '../completion/model.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { monotonicMs } from '../lib/clock.ts';
import { formatDuration, parseDuration } from '../lib/duration.ts';
import type { Env } from '../lib/env.ts';
import { errorMessage, usage } from '../lib/errors.ts';
import { Mask } from '../lib/mask.ts';
import type { Sandbox } from '../sandbox/index.ts';
import { type Key, maskGivenKeys, noKeyError } from '../settings/key.ts';
import { ledgerPath, makePrivateFolder, stateFolder } from '../settings/paths.ts';
import { Settings } from '../settings/settings.ts';
import { Output } from '../ui/output.ts';
import type { GlobalValues } from './global-options.ts';

const SANDBOX = 'sandbox';

export interface Edges {
  readonly env: Env;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}

interface Limits {
  /** The command's --timeout bounds all of its work, not each request. */
  readonly ownTimeout?: boolean;
  /** And no request goes on when it has run out. */
  readonly endsInTime?: boolean;
  /** What breaks calls off, if not the user's interruption. */
  readonly signal?: AbortSignal;
}

export class Context {
  readonly globals: GlobalValues;
  readonly commandTree: () => CommandNode;
  readonly env: Env;
  readonly signal: AbortSignal;
  readonly mask = new Mask();
  readonly out: Output;
  readonly #edges: Edges;
  #settings: Settings | undefined;
  #transport: Promise<Transport> | undefined;
  #sandbox: Sandbox | undefined;
  #ledger: Promise<Ledger> | undefined;

  /** `commandTree` gives all commands; completion scripts are made from it. */
  constructor(globals: GlobalValues, edges: Edges, commandTree: () => CommandNode) {
    this.globals = globals;
    this.commandTree = commandTree;
    this.env = edges.env;
    this.#edges = edges;
    this.signal = edges.signal;
    maskGivenKeys(this.mask, globals.apiKey, edges.env);
    this.out = new Output({ ...globals, noColor: !globals.color }, edges, this.mask.hide, edges.env);
  }

  /** Opened on first use: node takes its time over it. */
  get stdin(): NodeJS.ReadStream {
    return this.#edges.stdin;
  }

  /** Whether the service is the one inside: asked for by flag, or by the name of the profile. */
  get inSandbox(): boolean {
    const { sandbox, profile } = this.globals;
    return sandbox || (profile ?? this.env.STENO_PROFILE) === SANDBOX;
  }

  /** Starts what must run before the command does. */
  async open(): Promise<void> {
    if (!this.inSandbox) return;
    if (this.globals.baseUrl !== undefined) throw usage('--sandbox and --base-url exclude each other');
    const { startSandbox } = await import('../sandbox/index.ts');
    this.#sandbox = await startSandbox({ folder: this.stateFolder });
  }

  get stateFolder(): string {
    const folder = stateFolder(this.env);
    makePrivateFolder(folder);
    return folder;
  }

  get settings(): Settings {
    this.#settings ??= this.readSettings();
    return this.#settings;
  }

  /** Reads the settings anew; `newProfile` accepts a profile that is about to be made. */
  readSettings({ newProfile = false }: { newProfile?: boolean } = {}): Settings {
    const { globals, env, mask } = this;
    const sandbox = this.#sandbox;
    const timeout = globals.timeout === undefined ? undefined : formatDuration(globals.timeout);
    if (sandbox) {
      const flags = { 'base-url': sandbox.baseUrl, 'api-key': sandbox.apiKey, timeout };
      return new Settings({ flags, flagSource: SANDBOX, profile: SANDBOX, newProfile: true, env, mask });
    }
    const flags = { 'base-url': globals.baseUrl, 'api-key': globals.apiKey, timeout };
    return new Settings({ flags, profile: globals.profile, newProfile, env, mask });
  }

  key(): Promise<Key | undefined> {
    return this.settings.key();
  }

  /** The way to the service, with the settings that hold for this command. */
  transport(options: Limits = {}): Promise<Transport> {
    this.#transport ??= this.#connect(options);
    return this.#transport;
  }

  async #connect(options: Limits): Promise<Transport> {
    const { settings } = this;
    const key = await this.key();
    if (!key) throw noKeyError();
    return this.transportFor(settings, key.value, options);
  }

  async transportFor(
    settings: Settings,
    apiKey: string,
    { ownTimeout = false, endsInTime = false, signal = this.signal }: Limits = {},
  ): Promise<Transport> {
    const baseUrl = settings.get('base-url').value;
    if (!baseUrl) {
      throw usage(
        'no base URL is set',
        'set it with: steno config set base-url https://host/API4   (or STENO_BASE_URL)',
      );
    }
    const { timeout } = this.globals;
    const limit = ownTimeout && timeout !== undefined ? undefined : settings.get('timeout').value;
    const { Transport } = await import('../api/http/transport.ts');
    return Transport.open({
      baseUrl,
      apiKey,
      timeoutMs: limit === undefined ? undefined : parseDuration(limit),
      endsAtMs: endsInTime && timeout !== undefined ? monotonicMs() + timeout : undefined,
      userAgent: `steno/${STENO_VERSION} node/${process.versions.node} ${process.platform}-${process.arch}`,
      env: this.env,
      signal,
      hide: this.mask.hide,
      trace: (line) => {
        if (this.out.mode.debug) this.out.debug(line());
      },
    });
  }

  /** The ledger, unless the user wants none. */
  async ledger(): Promise<Ledger | undefined> {
    if (!this.globals.ledger) return undefined;
    this.#ledger ??= import('../ledger/ledger.ts').then(({ Ledger }) =>
      Ledger.open(ledgerPath(this.stateFolder), this.settings.profileName, this.mask.hide),
    );
    return this.#ledger;
  }

  /** What the ledger knows of the sandbox is void when the sandbox starts afresh. */
  async forgetSandbox(): Promise<void> {
    if (!this.hasLedger) return;
    const { Ledger } = await import('../ledger/ledger.ts');
    const ledger = await Ledger.open(ledgerPath(this.stateFolder), SANDBOX, this.mask.hide);
    ledger.forget();
    ledger.close();
  }

  get hasLedger(): boolean {
    return existsSync(ledgerPath(stateFolder(this.env)));
  }

  /** The ledger for a command that can do without it: none is made, and one that can't be opened is only a warning. */
  async ledgerIfAny(): Promise<Ledger | undefined> {
    try {
      return this.hasLedger ? await this.ledger() : undefined;
    } catch (error) {
      await this.out.warn(`the ledger is not used: ${errorMessage(error)}`);
      return undefined;
    }
  }

  async dispose(): Promise<void> {
    await (await this.#transport?.catch(() => undefined))?.close();
    (await this.#ledger?.catch(() => undefined))?.close();
    await this.#sandbox?.close();
  }
}
