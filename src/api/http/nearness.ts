/** How near to this machine an address is. */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import type { Env } from '../../lib/env.ts';
import { proxyFor } from './proxy.ts';

const listOf = (v4: ReadonlyArray<[string, number]>, v6: ReadonlyArray<[string, number]>): BlockList => {
  const list = new BlockList();
  for (const [net, bits] of v4) list.addSubnet(net, bits, 'ipv4');
  for (const [net, bits] of v6) list.addSubnet(net, bits, 'ipv6');
  return list;
};
const machine = listOf(
  [
    ['127.0.0.0', 8],
    ['0.0.0.0', 8],
  ],
  [['::', 127]],
);
const privateNets = listOf(
  [
    ['10.0.0.0', 8],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
    ['169.254.0.0', 16],
    ['100.64.0.0', 10],
  ],
  [
    ['fc00::', 7],
    ['fe80::', 10],
  ],
);

/** 2: this machine; 1: a private network; 0: any other. A name that a proxy resolves is not looked up here. */
export async function nearness(url: URL, env: Env): Promise<number> {
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return 2;
  if (isIP(host)) return ofAddress(host);
  if (proxyFor(url, env)) return 0;
  // What has no address can't be reached either.
  const found = await lookup(host, { all: true }).catch(() => []);
  return Math.max(0, ...found.map(({ address }) => ofAddress(address)));
}

function ofAddress(address: string): number {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (machine.check(address, family)) return 2;
  return privateNets.check(address, family) ? 1 : 0;
}
