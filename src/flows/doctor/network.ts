/** What stands between this machine and the service: a proxy, and certificates. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { proxyFor } from '../../api/http/pool.ts';
import { errorMessage } from '../../lib/errors.ts';
import { type Finding, fail, ok, skipped, warn, within } from './check.ts';
import type { Setup } from './setup.ts';

const PROXY_HINT = 'check HTTPS_PROXY or HTTP_PROXY; NO_PROXY names hosts to reach without it';

export async function checkProxy({
  networkEnv,
  settings,
  offline,
  limitMs,
  signal,
}: Setup): Promise<Finding> {
  const baseUrl = usable(() => settings().settings.get('base-url').value);
  if (baseUrl === undefined) return skipped('there is no base URL that could need one');
  const proxy = proxyFor(new URL(baseUrl), networkEnv);
  if (!proxy) return ok(hasProxy(networkEnv) ? 'one is set, but not used for this base URL' : 'none is set');
  // Without its name and password.
  const { origin, hostname, protocol } = proxy;
  if (offline) return ok(`${origin}; whether it can be reached was not asked: --offline`);
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
      'NODE_TLS_REJECT_UNAUTHORIZED=0: certificates are not checked, so that anyone on the way may read the key',
      'unset it; name the certificate of a proxy or a company with NODE_EXTRA_CA_CERTS',
    );
  const file = env.NODE_EXTRA_CA_CERTS;
  if (!file) return ok("Node's own list of authorities");
  const hint = 'correct the path in NODE_EXTRA_CA_CERTS, or unset it';
  try {
    const count = readFileSync(file, 'utf8').split('-----BEGIN CERTIFICATE-----').length - 1;
    if (count === 0) return fail(`${file} (NODE_EXTRA_CA_CERTS) holds no certificate in PEM`, hint);
    return ok(`Node's own list, and ${count} from ${file} (NODE_EXTRA_CA_CERTS)`);
  } catch (error) {
    return fail(`${file} (NODE_EXTRA_CA_CERTS) can't be read: ${errorMessage(error)}`, hint);
  }
}
