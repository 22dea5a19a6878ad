/** Opens connections to the service: straight, or through the proxy that the environment names. */
import type { Dispatcher } from 'undici';
import { proxyFor } from './proxy.ts';

export type Connect = () => Dispatcher;

const limits = { connections: 64, pipelining: 1, connect: { timeout: 15_000 }, maxHeaderSize: 65_536 };

interface Way {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly busy: boolean;
}

export async function connectorTo(base: URL, { env, busy }: Way): Promise<Connect> {
  const proxy = proxyFor(base, env);
  if (proxy) {
    const { ProxyAgent } = await import('./undici-proxy.ts');
    return () => new ProxyAgent({ ...limits, uri: proxy, proxyTunnel: base.protocol === 'https:' });
  }
  const { Pool } = await import('./undici.ts');
  if (!busy) await spareTheCompiler();
  return () => new Pool(base.origin, limits);
}

/**
 * V8 would optimise the HTTP parser's WebAssembly during the first call and hold up the end of the process by 200 ms.
 * That pays after a few dozen calls only. To take this out, delete the function.
 */
async function spareTheCompiler(): Promise<void> {
  process.emit('steno:keep-code' as 'exit', 0);
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--wasm-tiering-budget=1000000000');
}
