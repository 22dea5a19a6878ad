/** Connections to one host: direct, or through the proxy that the environment names. */

import { setMaxListeners } from 'node:events';
import type { Dispatcher } from 'undici';
import type { Env } from '../../lib/env.ts';
import { setFlag } from '../../lib/v8-flags.ts';
import { proxyFor } from './proxy.ts';

export interface ConnectionPool {
  readonly dispatcher: Dispatcher;
  /** Closes every connection, also one that is still being made: undici would keep the process waiting for it. */
  close(): Promise<void>;
}

const limits = { connections: 64, pipelining: 1, maxHeaderSize: 65_536 };
const CONNECT_TIMEOUT_MS = 15_000;

/** Loads what connections to this host need; what it returns makes a pool. */
export async function poolFactory(base: URL, env: Env): Promise<() => ConnectionPool> {
  const proxy = proxyFor(base, env);
  if (proxy) {
    const { ProxyAgent } = await import('./undici-proxy.ts');
    const tunnel = { uri: proxy, proxyTunnel: base.protocol === 'https:' };
    return () =>
      makePool((connect) => new ProxyAgent({ ...limits, ...tunnel, proxyTls: connect, requestTls: connect }));
  }
  const { Pool } = await import('./undici.ts');
  skipWasmOptimisation();
  return () => makePool((connect) => new Pool(base.origin, { ...limits, connect }));
}

function makePool(
  makeDispatcher: (connect: { timeout: number; signal: AbortSignal }) => Dispatcher,
): ConnectionPool {
  const closed = new AbortController();
  // Every connection listens to it.
  setMaxListeners(0, closed.signal);
  const dispatcher = makeDispatcher({ timeout: CONNECT_TIMEOUT_MS, signal: closed.signal });
  const close = async (): Promise<void> => {
    await dispatcher.destroy();
    closed.abort();
  };
  return { dispatcher, close };
}

/**
 * Speed: V8 would optimise undici's HTTP parser (WebAssembly) during the first calls and hold up the exit until that is
 * done: up to 200 ms and 30 MB. On Node 20 ten thousand calls do not win that back; since Node 22 a thousand do, and
 * beyond them this costs a fifteenth of the time. To take it out, delete this function.
 */
function skipWasmOptimisation(): void {
  setFlag('--no-wasm-tier-up --no-wasm-dynamic-tiering', '--wasm-tier-up --wasm-dynamic-tiering');
}
