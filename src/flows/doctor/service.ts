/** The service: its address, the way to it, whether it takes the key, and where it sends events. */
import { connect } from 'node:net';
import { getBalance, getWebhook } from '../../api/account.ts';
import { type ProbeAnswer, probe } from '../../api/http/keyless.ts';
import { proxyFor } from '../../api/http/proxy.ts';
import type { Transport } from '../../api/http/transport.ts';
import { errorMessage } from '../../lib/errors.ts';
import { durationText } from '../../lib/time.ts';
import { maskUserinfo } from '../../lib/url.ts';
import { hasCrashed, putBack, ReplacedWebhooks, restoredText, setCommand } from '../webhook.ts';
import { type Finding, fail, ok, once, type Setup, skipped, warn, within } from './check.ts';

const SET_BASE_URL = 'set it with: steno config set base-url https://host/API4   (or STENO_BASE_URL)';
const NO_BASE_URL = skipped('there is no usable base URL');
const OFFLINE = skipped('not checked (--offline)');

/** Undefined where it is missing or not valid, which its own check says. */
function baseUrlOf({ settings }: Setup): string | undefined {
  try {
    return settings.get('base-url').value;
  } catch {
    return undefined;
  }
}

/** A missing setting may be in a config file that can't be used. */
const missing = ({ settingsError }: Setup, what: string, hint: string): Finding =>
  settingsError
    ? skipped(`the settings can't be used, so ${what} is unknown`)
    : fail(`no ${what} is set`, hint);

export class ServiceChecks {
  readonly #setup: Setup;

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  /** Undefined where it can't be asked, because there is no address. */
  readonly #probe = once(async (): Promise<ProbeAnswer | undefined> => {
    const { networkEnv: env, userAgent, limitMs, signal, offline } = this.#setup;
    const baseUrl = baseUrlOf(this.#setup);
    if (baseUrl === undefined || offline) return undefined;
    return probe({ baseUrl, path: '/prepay_balance', env, userAgent, limitMs, signal });
  });

  /** What stands in the setting; nothing is sent. */
  checkBaseUrl(): Finding {
    const { value, source } = this.#setup.settings.get('base-url');
    if (value === undefined) return missing(this.#setup, 'base URL', SET_BASE_URL);
    const shown = `${value} (${source})`;
    if (!/^\/+$/.test(new URL(value).pathname)) return ok(shown);
    const usual = value.replace(/\/*$/, '/API4');
    return warn(`${shown} has no path`, `the API is usually below /API4: ${usual}`);
  }

  async checkReachable(): Promise<Finding> {
    const baseUrl = baseUrlOf(this.#setup);
    const answer = await this.#probe();
    if (!answer) return baseUrl === undefined ? NO_BASE_URL : OFFLINE;
    const { status, headers, roundTripMs } = answer;
    const said = `${baseUrl} answers in ${durationText(roundTripMs)} (HTTP ${status}, called without the key)`;
    if (status >= 500) return fail(said, 'the service has a problem: try again later');
    if (status === 404)
      return warn(said, 'check that the base URL ends in the path of the API, such as /API4');
    if (status < 300 || status >= 400) return ok(said);
    const target = headers.location ?? 'nowhere';
    return fail(`${said}: it redirects to ${target}`, 'set the base URL to the address of the API');
  }

  async checkKey(): Promise<Finding> {
    const { key: readKey, limitMs, signal, connect, offline, settings } = this.#setup;
    const command = settings.getUnchecked('api-key-command');
    if (offline && settings.getUnchecked('api-key').value === undefined && command.value !== undefined)
      return skipped(`the command of ${command.source} prints it, but was not run (--offline)`);
    const key = await readKey();
    if (!key) return missing(this.#setup, 'API key', 'run: steno login   (or set STENO_API_KEY)');
    if (offline) return ok(`found in ${key.source}; not checked with the service (--offline)`);
    if (!(await this.#isThere())) return skipped(`found in ${key.source}; the service is unavailable`);
    const { balance } = await within(limitMs, signal, async (limit) =>
      getBalance(await connect(key.value, limit)),
    );
    return ok(`the service accepts it (from ${key.source}; the balance is ${balance})`);
  }

  /** Where the service sends events. */
  async checkWebhook(): Promise<Finding> {
    const { key: readKey, limitMs, signal, connect, offline, env, hide, mayPutBack } = this.#setup;
    if (offline) return OFFLINE;
    const key = await readKey().catch(() => undefined);
    if (!key || !(await this.#isThere())) return skipped('the service is unavailable');
    const ask = <Answer>(call: (service: Transport) => Promise<Answer>): Promise<Answer> =>
      within(limitMs, signal, async (limit) => call(await connect(key.value, limit)));
    const { url } = await ask(getWebhook);
    if (url === '') return ok('none set; steno listen --register sets one while it runs');
    const webhooks = new ReplacedWebhooks(env);
    const listener = webhooks.find(url);
    if (!listener) return ok(`${maskUserinfo(url)}; not set by a listener of this machine`);
    if (!hasCrashed(listener)) return ok(`it points to the running listener (pid ${listener.pid})`);
    if (mayPutBack) {
      const restored = await ask((service) => putBack(service, webhooks, listener));
      return ok(`a listener that crashed had left its own set; ${restoredText(restored.url)}`);
    }
    return warn(
      'it points to a listener that ended without restoring the previous webhook: events are lost',
      `steno listen --register restores it, or: ${setCommand(listener.previous, hide)}`,
    );
  }

  /** Whether asking anything more makes sense. */
  #isThere(): Promise<boolean> {
    return this.#probe().then(Boolean, () => false);
  }
}

const PROXY_HINT = 'check HTTPS_PROXY or HTTP_PROXY; NO_PROXY names hosts to reach without it';

/** The proxy between this machine and the service. */
export async function checkProxy(setup: Setup): Promise<Finding> {
  const { networkEnv, offline, limitMs, signal } = setup;
  const baseUrl = baseUrlOf(setup);
  if (baseUrl === undefined) return NO_BASE_URL;
  const proxy = proxyFor(new URL(baseUrl), networkEnv);
  if (!proxy) return ok('none is used for this base URL');
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

function connectTo(host: string, port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal });
    socket.once('error', reject).once('connect', () => {
      socket.destroy();
      resolve();
    });
  });
}
