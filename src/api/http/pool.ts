/** Opens connections to the service: straight, or through the proxy that the environment names. */

import { setMaxListeners } from 'node:events';
import type { Dispatcher } from 'undici';
import type { Env } from '../../lib/env.ts';
import { setFlag } from '../../lib/v8-flags.ts';
import { proxyFor } from './proxy.ts';

/** A way to one host, with all its connections. */
export interface Line {
  readonly dispatcher: Dispatcher;
  /** Gives up every connection, also one that is still being made: undici would let the process wait for it. */
  close(): Promise<void>;
}

export type Connect = () => Line;

const limits = { connections: 64, pipelining: 1, maxHeaderSize: 65_536 };
const CONNECT_MS = 15_000;

export async function connectorTo(base: URL, env: Env): Promise<Connect> {
  const proxy = proxyFor(base, env);
  if (proxy) {
    const { ProxyAgent } = await import('./undici-proxy.ts');
    const tunnel = { uri: proxy, proxyTunnel: base.protocol === 'https:' };
    return () =>
      lineOf((connect) => new ProxyAgent({ ...limits, ...tunnel, proxyTls: connect, requestTls: connect }));
  }
  const { Pool } = await import('./undici.ts');
  spareTheCompiler();
  return () => lineOf((connect) => new Pool(base.origin, { ...limits, connect }));
}

function lineOf(make: (connect: { timeout: number; signal: AbortSignal }) => Dispatcher): Line {
  const end = new AbortController();
  // Every connection listens to it.
  setMaxListeners(0, end.signal);
  const dispatcher = make({ timeout: CONNECT_MS, signal: end.signal });
  const close = async (): Promise<void> => {
    await dispatcher.destroy();
    end.abort();
  };
  return { dispatcher, close };
}

/**
 * V8 would optimise the HTTP parser's WebAssembly during the first calls, and hold up the end of the process until that
 * is done: up to 200 ms, and 30 MB. On Node 20 ten thousand calls do not win that back; since Node 22 a thousand do,
 * and what is lost beyond them is a fifteenth of the time. To take this out, delete the function.
 */
function spareTheCompiler(): void {
  setFlag('--no-wasm-tier-up --no-wasm-dynamic-tiering', '--wasm-tier-up --wasm-dynamic-tiering');
}
