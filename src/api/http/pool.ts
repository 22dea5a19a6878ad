/** Connections to one host: direct, or through the proxy that the environment names. */

import { setMaxListeners } from 'node:events';
import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { setFlag } from '../../lib/v8-flags.ts';
import { basicAuth } from './basic-auth.ts';
import type { BeforeSend } from './call.ts';
import { makeConnector } from './connector.ts';
import type { RequestSender } from './exchange.ts';

export interface ConnectionPool {
  readonly sender: RequestSender;
  /** The host, and the proxy on the way to it, as errors name them. */
  readonly peer: string;
  /** Closes every connection, also one that is still being made: undici would keep the process waiting for it. */
  close(): Promise<void>;
}

const limits = { pipelining: 1, maxHeaderSize: 65_536 };
/** As many as calls are made at once by commands without --jobs. */
const DEFAULT_CONNECTIONS = 8;
const CONNECT_TIMEOUT_MS = 15_000;

export interface PoolOptions {
  readonly beforeSend?: BeforeSend | undefined;
  /** The most that are open at a time. */
  readonly connections?: number | undefined;
  /** Resolves the host, where no proxy does. */
  readonly lookup?: LookupFunction | undefined;
}

/** Loads what connections need. Nothing is connected to yet. */
export async function openPool(
  base: URL,
  proxy: URL | undefined,
  { beforeSend, connections = DEFAULT_CONNECTIONS, lookup }: PoolOptions = {},
): Promise<ConnectionPool> {
  const { Pool, buildConnector } = await import('./undici.ts');
  skipWasmOptimisation();
  const closed = new AbortController();
  // Every connection listens to it.
  setMaxListeners(0, closed.signal);
  const tunnels = base.protocol === 'https:';
  const plainProxy = tunnels ? undefined : proxy;
  const connectTcp = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    signal: closed.signal,
    ...(lookup && { lookup }),
  });
  const connect = makeConnector(connectTcp, proxy, tunnels, beforeSend);
  const pool = new Pool((plainProxy ?? base).origin, { ...limits, connections, connect });
  return {
    sender: plainProxy ? plainProxySender(pool, plainProxy) : pool,
    // Without the proxy's name and password.
    peer: proxy ? `${base.host} through the proxy ${proxy.origin}` : base.host,
    close: async () => {
      await pool.destroy();
      closed.abort();
    },
  };
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

/**
 * Speed: V8 would optimise undici's HTTP parser (WebAssembly) during the first calls and hold up the exit until that is
 * done: up to 200 ms and 30 MB. On Node 20 ten thousand calls do not win that back; since Node 22 a thousand do, and
 * beyond them this costs a fifteenth of the time. To take it out, delete this function.
 */
function skipWasmOptimisation(): void {
  setFlag('--no-wasm-tier-up --no-wasm-dynamic-tiering', '--wasm-tier-up --wasm-dynamic-tiering');
}
