import type { Env } from '../../lib/env.ts';
import { usage } from '../../lib/errors.ts';
import { isUrl } from '../../lib/is-url.ts';
import { isLoopback } from '../../lib/urls.ts';

/** The proxy that the environment names for this URL, if any. */
export function proxyFor(target: URL, env: Env): URL | undefined {
  const name = target.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const proxy = env[name] || env[name.toUpperCase()];
  if (!proxy || isExempt(target, env.no_proxy || env.NO_PROXY || '')) return undefined;
  const text = isUrl(proxy) ? proxy : `http://${proxy}`;
  if (!isUrl(text) || !/^https?:\/\//i.test(text)) {
    throw usage(
      `${name.toUpperCase()} is not the address of an http proxy`,
      'write it like http://host:port',
    );
  }
  // A plain http request through a proxy on another machine would show it the key.
  const url = new URL(text);
  return target.protocol === 'http:' && !isLoopback(url.hostname) ? undefined : url;
}

/** NO_PROXY: host names separated by commas; each covers its subdomains; `*` covers every host. */
function isExempt(target: URL, noProxy: string): boolean {
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  return noProxy.split(/[,\s]+/).some((entry) => {
    if (entry === '*') return true;
    const [, host = '', onlyPort] =
      /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase().replace(/^\*?\./, '')) ?? [];
    if (!host || (onlyPort && onlyPort !== port)) return false;
    return (
      target.hostname === host || target.hostname === `[${host}]` || target.hostname.endsWith(`.${host}`)
    );
  });
}
