import type { Env } from '../../lib/env.ts';
import { usage } from '../../lib/errors.ts';
import { isUrl } from '../../lib/is-url.ts';
import { nearnessOf } from './nearness.ts';

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
  // Plain http to this machine may hold the key, and a proxy on another machine would lead to that one.
  const url = new URL(text);
  const leavesMachine = target.protocol === 'http:' && nearnessOf(target) === 2 && nearnessOf(url) < 2;
  return leavesMachine ? undefined : url;
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
