/** Opens connections to the service: straight, or through the proxy that the environment names. */
import type { Dispatcher } from 'undici';
import { proxyFor } from './proxy.ts';

export type Connect = () => Dispatcher;

const limits = { connections: 64, pipelining: 1, connect: { timeout: 15_000 }, maxHeaderSize: 65_536 };

/** So many calls win back what it costs to optimise the parser: a thousand since Node 22, before that many more. */
const WORTH_IT = process.version.startsWith('v20.') ? 10_000 : 1_000;

interface Way {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** About how many calls will be made. */
  readonly calls: number;
}

export async function connectorTo(base: URL, { env, calls }: Way): Promise<Connect> {
  const proxy = proxyFor(base, env);
  if (proxy) {
    const { ProxyAgent } = await import('./undici-proxy.ts');
    return () => new ProxyAgent({ ...limits, uri: proxy, proxyTunnel: base.protocol === 'https:' });
  }
  const { Pool } = await import('./undici.ts');
  if (calls < WORTH_IT) await spareTheCompiler();
  return () => new Pool(base.origin, limits);
}

/**
 * V8 would optimise the HTTP parser's WebAssembly during the first calls, and hold up the end of the process until that
 * is done: up to 200 ms. To take this out, delete the function.
 */
async function spareTheCompiler(): Promise<void> {
  process.emit('steno:keep-code' as 'exit', 0);
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--liftoff-only');
}
