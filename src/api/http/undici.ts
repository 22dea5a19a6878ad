/**
 * Speed: only the parts of undici that a call needs. With them Node starts in 1.8 times the time of a bare start, with
 * all of undici in 3.4 times. To take it out, import all of it from 'undici'.
 */
import buildConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';

/** Only for a service behind a proxy. */
export async function loadProxyAgent() {
  const [{ default: ProxyAgent }, { default: connect }] = await Promise.all([
    import('undici/lib/dispatcher/proxy-agent.js'),
    import('undici/lib/api/api-connect.js'),
  ]);
  // As the index of undici does, with all of its calls.
  Object.assign(Pool.prototype, { connect });
  return ProxyAgent;
}

export { buildConnector, Pool };
