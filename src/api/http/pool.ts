/** Connections to one host: direct, or through the proxy that the environment names. */

import { setMaxListeners } from 'node:events';
import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import type { Env } from '../../lib/env.ts';
import { usage } from '../../lib/errors.ts';
import { isUrl } from '../../lib/url.ts';
import { basicAuth, nearnessOf } from './address.ts';
import type { BeforeSend } from './call.ts';
import { proxyConnector, requestConnector } from './connector.ts';
import type { RequestSender } from './exchange.ts';

export interface ConnectionPool {
  readonly sender: RequestSender;
  /** The host, and the proxy on the way to it, as errors name them. */
  readonly peer: string;
  /** Some of a request may have been sent. */
  readonly hasWritten: () => boolean;
  /** Closes every connection, also one that is still being made: undici would keep the process waiting for it. */
  close(): Promise<void>;
}

const limits = { pipelining: 1, maxHeaderSize: 65_536 };
/** As many as calls are made at once by commands without --jobs. */
const DEFAULT_CONNECTIONS = 8;
const CONNECT_TIMEOUT_MS = 15_000;

interface PoolOptions {
  readonly beforeSend?: BeforeSend | undefined;
  /** The most that are open at a time. */
  readonly connections?: number | undefined;
  /** Resolves the host, where no proxy does. */
  readonly lookup?: LookupFunction;
}

/** Loads what connections need. Nothing is connected to yet. */
export async function openPool(
  base: URL,
  env: Env,
  { beforeSend, connections = DEFAULT_CONNECTIONS, lookup }: PoolOptions = {},
): Promise<ConnectionPool> {
  const { Pool, buildConnector } = await import('./undici.ts');
  skipWasmOptimisation();
  const proxy = proxyFor(base, env);
  const closed = new AbortController();
  // Every connection listens to it.
  setMaxListeners(0, closed.signal);
  let written = false;
  const onWrite = (): void => {
    written = true;
  };
  const tunnels = base.protocol === 'https:';
  const plainProxy = tunnels ? undefined : proxy;
  const connectTcp = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    signal: closed.signal,
    ...(lookup && !proxy && { lookup }),
  });
  const open = proxy ? proxyConnector(connectTcp, proxy, tunnels) : connectTcp;
  const connect = requestConnector(open, onWrite, beforeSend);
  const pool = new Pool((plainProxy ?? base).origin, { ...limits, connections, connect });
  return {
    sender: plainProxy ? plainProxySender(pool, plainProxy) : pool,
    // Without the proxy's name and password.
    peer: proxy ? `${base.host} through the proxy ${proxy.origin}` : base.host,
    hasWritten: () => written,
    close: async () => {
      await pool.destroy();
      closed.abort();
    },
  };
}

/** For work that has its connections to itself. */
export async function withPool<T>(
  base: URL,
  env: Env,
  options: PoolOptions,
  work: (pool: ConnectionPool) => Promise<T>,
): Promise<T> {
  const pool = await openPool(base, env, options);
  try {
    return await work(pool);
  } finally {
    await pool.close();
  }
}

/** Sends plain http requests to a proxy, which takes the whole URL in place of the path. */
function plainProxySender(pool: Dispatcher, proxy: URL): RequestSender {
  const credentials = basicAuth(proxy);
  return {
    dispatch: ({ origin, path, headers, ...request }, handler) =>
      pool.dispatch(
        {
          ...request,
          path: `${origin}${path}`,
          headers: {
            ...(headers as Record<string, string>),
            host: new URL(String(origin)).host,
            ...(credentials && { 'proxy-authorization': credentials }),
          },
        },
        handler,
      ),
  };
}

let skipsWasmOptimisation = false;

/**
 * Speed: V8 would optimise undici's HTTP parser (WebAssembly) during the first calls and hold up the exit until that is
 * done: up to 200 ms and 30 MB. On Node 20 ten thousand calls do not win that back; since Node 22 a thousand do, and
 * beyond them this costs a fifteenth of the time. The code cache, which is saved at the exit, is accepted only under the
 * flags of a start. To take it out, delete this function.
 */
function skipWasmOptimisation(): void {
  if (skipsWasmOptimisation) return;
  skipsWasmOptimisation = true;
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString('--no-wasm-tier-up --no-wasm-dynamic-tiering');
  process.prependOnceListener('exit', () => setFlagsFromString('--wasm-tier-up --wasm-dynamic-tiering'));
}

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
    return [host, `[${host}]`].includes(target.hostname) || target.hostname.endsWith(`.${host}`);
  });
}
