/** What a command is given. Each part is opened when a command first asks for it: most need few of them. */
import type { PublicReading } from '../api/http/keyless.ts';
import type { Trace, Transport } from '../api/http/transport.ts';
import { type Env, withoutProxies } from '../lib/env.ts';
import { usage } from '../lib/errors.ts';
import { Mask } from '../lib/mask.ts';
import { accountName } from '../lib/names.ts';
import { formatDuration, monotonicMs, parseDuration } from '../lib/time.ts';
import type { Sandbox } from '../sandbox/index.ts';
import { type Key, maskGivenKeys, noKeyError } from '../settings/key.ts';
import { stateFolder } from '../settings/paths.ts';
import { Settings, type SettingsOptions } from '../settings/settings.ts';
import { Output } from '../ui/output.ts';
import { checkSandboxFlags, type GlobalValues, SANDBOX, warnOfKeyFlag } from './global-options.ts';
import { Ledgers, makeStateFolder } from './ledgers.ts';

/** What the process hands down. */
export interface ProcessIO {
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

interface ConnectOptions {
  /**
   * What the flag --timeout bounds: each request; the whole command, so that no request goes on beyond it; or nothing
   * here, because the command watches the time itself.
   */
  readonly timeoutBounds?: 'request' | 'command' | 'nothing';
  /** What breaks calls off, if not the user's interruption. */
  readonly signal?: AbortSignal;
  /** The most connections at a time: as many as calls are made at once. */
  readonly connections?: number | undefined;
  /** An account that the settings do not hold yet. */
  readonly account?: Account;
}

type CleanUp = () => void | Promise<void>;

export class Context {
  readonly globals: GlobalValues;
  readonly env: Env;
  readonly signal: AbortSignal;
  readonly mask = new Mask();
  readonly out: Output;
  readonly ledgers: Ledgers;
  /** The sandbox that calls go to, because of the flag or of the profile's name; undefined where they go to an account. */
  sandbox: Sandbox | undefined;
  readonly #io: ProcessIO;
  readonly #cleanUps = new Set<CleanUp>();
  #settings: Settings | undefined;
  #key: Promise<Key | undefined> | undefined;

  constructor(globals: GlobalValues, io: ProcessIO) {
    this.globals = globals;
    this.env = io.env;
    this.#io = io;
    this.signal = io.signal;
    maskGivenKeys(this.mask, globals.apiKey, io.env);
    this.out = new Output(io, {
      mode: { ...globals, noColor: !globals.color },
      env: io.env,
      hide: this.mask.hide,
    });
    this.ledgers = new Ledgers(this);
  }

  /** Opened on first use, because node needs some milliseconds for it. */
  get stdin(): NodeJS.ReadStream {
    return this.#io.stdin;
  }

  /** Starts the sandbox, if calls go to it; warns of a key in the command line. */
  async open({ makesNoFile }: { readonly makesNoFile?: true }): Promise<void> {
    const { globals, env } = this;
    const inSandbox = globals.sandbox || accountName(globals.profile ?? env.STENO_PROFILE ?? '') === SANDBOX;
    if (inSandbox) checkSandboxFlags(globals);
    if (globals.apiKey) await warnOfKeyFlag(this.out);
    if (!inSandbox) return;
    const { startSandbox, hasStore } = await import('../sandbox/index.ts');
    const isKept = !makesNoFile || hasStore(stateFolder(env));
    this.sandbox = await startSandbox({ ...(isKept && { folder: makeStateFolder(env) }), setsClock: true });
    this.onExit(() => this.sandbox?.close());
  }

  get settings(): Settings {
    this.#settings ??= readSettings(this);
    return this.#settings;
  }

  /** A command that prints it is run once. */
  async key(): Promise<Key | undefined> {
    this.#key ??= this.settings.key({ timeoutMs: this.globals.timeout, signal: this.signal });
    return this.#key;
  }

  async requireKey(): Promise<Key> {
    const key = await this.key();
    if (!key) throw noKeyError(this.env);
    return key;
  }

  /** Opens a connection to the service; it is closed when the program ends. */
  async connect(options: ConnectOptions = {}): Promise<Transport> {
    const { account = await this.#ownAccount(), timeoutBounds = 'request' } = options;
    const { settings, apiKey, keySource, baseUrl = settings.get('base-url').value } = account;
    if (!baseUrl)
      throw usage(
        'no base URL is set',
        'run: steno login   (in a script: export STENO_BASE_URL=https://host/API4; to try it without an account: --sandbox)',
      );
    const { timeout } = this.globals;
    const perRequest = timeout === undefined || timeoutBounds === 'request';
    const limit = perRequest ? settings.get('timeout').value : undefined;
    const { Transport } = await import('../api/http/transport.ts');
    const transport = await Transport.open({
      baseUrl,
      apiKey,
      keySource,
      userAgent: userAgent(),
      env: networkEnv(this),
      signal: options.signal ?? this.signal,
      hardSignal: this.#io.hardSignal,
      onFinishing: (text) => this.out.stderr.notice(text),
      timeoutMs: limit === undefined ? undefined : parseDuration(limit),
      endsAtMs: timeout !== undefined && timeoutBounds === 'command' ? monotonicMs() + timeout : undefined,
      connections: options.connections,
      hide: this.mask.hide,
      trace: traceOf(this.out),
    });
    this.onExit(() => transport.close());
    return transport;
  }

  async #ownAccount(): Promise<Account> {
    const { value: apiKey, source: keySource } = await this.requireKey();
    return { settings: this.settings, apiKey, keySource };
  }

  /** Registers what must be undone when the program ends, also when it crashes; returns what cancels it. */
  onExit(cleanUp: CleanUp): () => void {
    this.#cleanUps.add(cleanUp);
    return () => void this.#cleanUps.delete(cleanUp);
  }

  /** Undoes the latest first: it may need what came before it. One that fails does not stop the others. */
  async dispose(): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    for (let next = [...this.#cleanUps].at(-1); next; next = [...this.#cleanUps].at(-1)) {
      this.#cleanUps.delete(next);
      try {
        await next();
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure) throw failure.error;
  }
}

/** Reads the settings anew; `newProfile` accepts a profile that is about to be made. */
export function readSettings(
  { globals, env, mask, sandbox }: Context,
  how: Pick<SettingsOptions, 'newProfile' | 'profiles'> = {},
): Settings {
  const timeout = globals.timeout === undefined ? undefined : formatDuration(globals.timeout);
  if (sandbox) {
    const flags = { 'base-url': sandbox.baseUrl, 'api-key': sandbox.apiKey, timeout };
    // Its name may have been given in capitals.
    const own = {
      flags,
      flagSource: SANDBOX,
      profile: globals.sandbox || globals.profile ? SANDBOX : undefined,
    };
    const sandboxEnv = env.STENO_PROFILE ? { ...env, STENO_PROFILE: SANDBOX } : env;
    return new Settings({ ...own, ...how, newProfile: true, env: sandboxEnv, mask });
  }
  const flags = { 'base-url': globals.baseUrl, 'api-key': globals.apiKey, timeout };
  return new Settings({ flags, profile: globals.profile, ...how, env, mask });
}

/** How a public address is read, such as that of a feed: without the key, not over the connection to the service. */
export const publicReading = (context: Context): PublicReading => ({
  env: networkEnv(context),
  signal: context.signal,
  userAgent: userAgent(),
  trace: traceOf(context.out),
});

/** The sandbox is on this machine: no proxy leads to it. */
const networkEnv = ({ sandbox, env }: Context): Env => (sandbox ? withoutProxies(env) : env);

/** Of a line of --debug. */
const MAX_DEBUG_LENGTH = 4000;

const traceOf = (out: Output): Trace | undefined =>
  out.mode.debug ? (line) => out.stderr.writeLine(`debug: ${line}`, MAX_DEBUG_LENGTH) : undefined;

const userAgent = (): string =>
  `steno/${STENO_VERSION} node/${process.versions.node} ${process.platform}-${process.arch}`;
