/** Connections to one host: direct, or through the proxy that the environment names. */

import { setMaxListeners } from 'node:events';
import type { LookupFunction, TcpNetConnectOpts } from 'node:net';
import type { Dispatcher } from 'undici';
import type { Env } from '../../lib/env.ts';
import type { BeforeSend } from './call.ts';
import type { Send } from './exchange.ts';
import { type Connector, inAbsoluteForm, openTunnels, proxyFor, toProxy } from './proxy.ts';

export interface ConnectionPool {
  readonly send: Send;
  /** The host, and the proxy on the way to it, as errors name them. */
  readonly peer: string;
  /** A connection was made, so that something may have been sent. */
  readonly hasConnected: () => boolean;
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
export async function openPool(base: URL, env: Env, options: PoolOptions = {}): Promise<ConnectionPool> {
  const { Pool, buildConnector, loadProxyAgent } = await import('./undici.ts');
  skipWasmOptimisation();
  const { beforeSend, connections = DEFAULT_CONNECTIONS, lookup } = options;
  const proxy = proxyFor(base, env);
  const isPlain = base.protocol === 'http:';
  const closed = new AbortController();
  // Every connection listens to it.
  setMaxListeners(0, closed.signal);
  const tcp: Partial<TcpNetConnectOpts> = { timeout: CONNECT_TIMEOUT_MS, signal: closed.signal };
  if (lookup && !proxy) tcp.lookup = lookup;
  let connected = false;
  /** undici writes the request as soon as it is given the connection; nothing is sent where `beforeSend` rejects. */
  const watched =
    (connect: Connector): Connector =>
    (target, callback) =>
      connect(target, (...[error, socket]) => {
        if (error) return callback(error, null);
        const use = (): void => {
          connected = true;
          callback(null, socket);
        };
        const check = beforeSend?.();
        if (!check) return use();
        check.then(use, (refusal: Error) => {
          socket.destroy();
          callback(refusal, null);
        });
      });
  const poolOf = (origin: string | URL, connect: Connector): Dispatcher =>
    new Pool(origin, { ...limits, connections, connect: watched(connect) });
  const open = async (): Promise<Dispatcher> => {
    if (!proxy) return poolOf(base.origin, buildConnector(tcp));
    if (isPlain) return poolOf(proxy.origin, toProxy(buildConnector(tcp)));
    const ProxyAgent = await loadProxyAgent();
    return openTunnels({ Pool, ProxyAgent }, proxy, tcp, poolOf);
  };
  const dispatcher = await open();
  return {
    send: (request, handler) =>
      void dispatcher.dispatch(proxy && isPlain ? inAbsoluteForm(request, proxy) : request, handler),
    // Without the proxy's name and password.
    peer: proxy ? `${base.host} through the proxy ${proxy.origin}` : base.host,
    hasConnected: () => connected,
    close: async () => {
      await dispatcher.destroy();
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
