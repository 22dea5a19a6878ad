/** Opens connections to the service: straight, or through the proxy that the environment names. */
import type { Dispatcher } from 'undici';
import { setFlag } from '../v8-flags.ts';
import { proxyFor } from './proxy.ts';

export type Connect = () => Dispatcher;

const limits = { connections: 64, pipelining: 1, connect: { timeout: 15_000 }, maxHeaderSize: 65_536 };

type Env = Readonly<Record<string, string | undefined>>;

export async function connectorTo(base: URL, env: Env): Promise<Connect> {
  const proxy = proxyFor(base, env);
  if (proxy) {
    const { ProxyAgent } = await import('./undici-proxy.ts');
    return () => new ProxyAgent({ ...limits, uri: proxy, proxyTunnel: base.protocol === 'https:' });
  }
  const { Pool } = await import('./undici.ts');
  spareTheCompiler();
  return () => new Pool(base.origin, limits);
}

/**
 * V8 would optimise the HTTP parser's WebAssembly during the first calls, and hold up the end of the process until that
 * is done: up to 200 ms, and 30 MB. On Node 20 ten thousand calls do not win that back; since Node 22 a thousand do,
 * and what is lost beyond them is a fifteenth of the time. To take this out, delete the function.
 */
function spareTheCompiler(): void {
  setFlag('--no-wasm-tier-up --no-wasm-dynamic-tiering', '--wasm-tier-up --wasm-dynamic-tiering');
}
