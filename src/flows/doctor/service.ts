/** The service: whether it is there, whether it takes the key, and what time it has. */

import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { getBalance } from '../../api/account.ts';
import { type ProbeAnswer, probe } from '../../api/http/keyless.ts';
import { proxyFor } from '../../api/http/pool.ts';
import { errorMessage, StenoError, systemReason } from '../../lib/errors.ts';
import { durationText } from '../../lib/time.ts';
import { type Finding, fail, failed, ok, once, type Setup, skipped, warn, within } from './check.ts';
import { notKnown } from './machine.ts';

const SET_BASE_URL = 'set it with: steno config set base-url https://host/API4   (or STENO_BASE_URL)';
/** A signature or a token may be refused where clocks differ by more. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;

export class ServiceChecks {
  readonly #setup: Setup;

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  /** The answer, and when it came by our clock. */
  readonly #probe = once(async (): Promise<ProbeAnswer & { readonly at: number }> => {
    const { networkEnv: env, userAgent, limitMs, signal } = this.#setup;
    const { baseUrl } = this;
    const answer = await probe({ baseUrl, path: '/prepay_balance', env, userAgent, limitMs, signal });
    return { ...answer, at: Date.now() };
  });

  /** Throws where it is not set or not valid. */
  get baseUrl(): string {
    const { value } = this.#setup.settings().settings.get('base-url');
    if (value === undefined) throw new StenoError('usage', 'no base URL is set', { hint: SET_BASE_URL });
    return value;
  }

  /** What stands in the setting; nothing is sent. */
  checkBaseUrl(): Finding {
    const { settings } = this.#setup.settings();
    if (settings.getUnchecked('base-url').value === undefined) {
      return notKnown(this.#setup, 'the base URL') ?? fail('no base URL is set', SET_BASE_URL);
    }
    const { value = '', source } = settings.get('base-url');
    const { pathname } = new URL(value);
    return /^\/+$/.test(pathname)
      ? warn(
          `${value} (${source}) has no path`,
          `the API is usually below /API4: ${value.replace(/\/*$/, '/API4')}`,
        )
      : ok(`${value} (${source})`);
  }

  async checkReachable(): Promise<Finding> {
    const missing = this.#withoutBaseUrl();
    if (missing) return missing;
    let answer: ProbeAnswer;
    try {
      answer = await this.#probe();
    } catch (error) {
      return failed(error, 'check the base URL and the network: steno config get base-url');
    }
    const { status, headers, roundTripMs } = answer;
    const said = `${this.baseUrl} answers in ${durationText(roundTripMs)} (HTTP ${status}, called without the key)`;
    if (status >= 500) return fail(said, 'the service has a problem: try again later');
    if (status >= 300 && status < 400)
      return fail(
        `${said}: it redirects to ${headers.location ?? 'nowhere'}`,
        'set the base URL to the address of the API',
      );
    if (status === 404)
      return warn(said, 'check that the base URL ends in the path of the API, such as /API4');
    return ok(said);
  }

  async checkKey(): Promise<Finding> {
    const { key: readKey, limitMs, signal, connect, offline } = this.#setup;
    const { settings } = this.#setup.settings();
    const command = settings.getUnchecked('api-key-command');
    if (offline && settings.getUnchecked('api-key').value === undefined && command.value !== undefined)
      return skipped(`the command of ${command.source} prints it, but was not run (--offline)`);
    const key = await readKey();
    if (!key)
      return (
        notKnown(this.#setup, 'the key') ??
        fail('no API key is set', 'run: steno login   (or set STENO_API_KEY)')
      );
    if (offline) return ok(`found in ${key.source}; not checked with the service (--offline)`);
    if (await this.#isUnreachable()) return skipped(`found in ${key.source}; the service is unavailable`);
    const { balance } = await within(limitMs, signal, async (limit) =>
      getBalance(await connect(key.value, limit)),
    );
    return ok(`the service accepts it (from ${key.source}; the balance is ${balance})`);
  }

  async checkClock(): Promise<Finding> {
    const missing =
      this.#withoutBaseUrl() ??
      ((await this.#isUnreachable()) ? skipped('the service is unavailable') : undefined);
    if (missing) return missing;
    const { headers, roundTripMs, at } = await this.#probe();
    const theirs = Date.parse(headers.date ?? '');
    if (Number.isNaN(theirs)) return skipped('the service does not report the time');
    const ahead = at - roundTripMs / 2 - theirs;
    if (Math.abs(ahead) <= MAX_CLOCK_DIFFERENCE_MS) return ok('agrees with the clock of the service');
    const how = ahead > 0 ? 'ahead of' : 'behind';
    return warn(
      `the clock of this machine is ${durationText(Math.abs(ahead))} ${how} that of the service`,
      'synchronize it, or links that expire soon will fail',
    );
  }

  /** Whether asking anything more is in vain. */
  async #isUnreachable(): Promise<boolean> {
    if (this.#withoutBaseUrl()) return true;
    return this.#probe().then(
      () => false,
      () => true,
    );
  }

  /** Why nothing can be asked; the check of the base URL says what to do. */
  #withoutBaseUrl(): Finding | undefined {
    try {
      void this.baseUrl;
      return undefined;
    } catch {
      return skipped('there is no usable base URL');
    }
  }

  /** For what comes after it: the key, where the service can be asked with it. */
  async usableKey(): Promise<string | undefined> {
    if (this.#setup.offline || (await this.#isUnreachable())) return undefined;
    return this.#setup.key().then(
      (key) => key?.value,
      () => undefined,
    );
  }
}

// What stands between this machine and the service: a proxy, and certificates.

const PROXY_HINT = 'check HTTPS_PROXY or HTTP_PROXY; NO_PROXY names hosts to reach without it';

export async function checkProxy({
  networkEnv,
  settings,
  offline,
  limitMs,
  signal,
}: Setup): Promise<Finding> {
  const baseUrl = usable(() => settings().settings.get('base-url').value);
  if (baseUrl === undefined) return skipped('there is no usable base URL');
  const proxy = proxyFor(new URL(baseUrl), networkEnv);
  if (!proxy) return ok(hasProxy(networkEnv) ? 'one is set, but not used for this base URL' : 'none set');
  // Without its name and password.
  const { origin, hostname, protocol } = proxy;
  if (offline) return ok(`${origin}; not checked (--offline)`);
  const port = Number(proxy.port || (protocol === 'https:' ? 443 : 80));
  try {
    await within(limitMs, signal, (limit) => connectTo(hostname.replace(/^\[|\]$/g, ''), port, limit));
    return ok(`${origin} can be reached`);
  } catch (error) {
    return fail(`the proxy ${origin} can't be reached: ${errorMessage(error)}`, PROXY_HINT);
  }
}

/** What is wrong with a setting is said by its own check. */
function usable(read: () => string | undefined): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const hasProxy = (env: Setup['env']): boolean =>
  ['https_proxy', 'http_proxy'].some((name) => env[name] || env[name.toUpperCase()]);

function connectTo(host: string, port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal });
    socket.once('error', reject).once('connect', () => {
      socket.destroy();
      resolve();
    });
  });
}

/** Node reads these when it starts, and says little about a file that it can't read. */
export function checkCertificates({ env }: Setup): Finding {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    return warn(
      'NODE_TLS_REJECT_UNAUTHORIZED=0: certificates are not verified, so anyone on the network path can read the key',
      'unset it; trust the certificate of a proxy or a company with NODE_EXTRA_CA_CERTS',
    );
  const file = env.NODE_EXTRA_CA_CERTS;
  if (!file) return ok("Node's built-in list of authorities");
  const hint = 'correct the path in NODE_EXTRA_CA_CERTS, or unset it';
  try {
    const count = readFileSync(file, 'utf8').split('-----BEGIN CERTIFICATE-----').length - 1;
    if (count === 0) return fail(`${file} (NODE_EXTRA_CA_CERTS) contains no PEM certificate`, hint);
    return ok(`Node's built-in list, plus ${count} from ${file} (NODE_EXTRA_CA_CERTS)`);
  } catch (error) {
    return fail(`${file} (NODE_EXTRA_CA_CERTS) can't be read: ${systemReason(error)}`, hint);
  }
}
