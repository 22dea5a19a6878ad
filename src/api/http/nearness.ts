/** How near to this machine an address is, and a guard for those that strangers name. */
import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** 2: this machine; 1: a private network; 0: any other. */
export type Nearness = 0 | 1 | 2;

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

/** Of a URL's host as it is written; a name tells nothing, except that of this machine. */
export function nearnessOf({ hostname }: URL): Nearness {
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return 2;
  return isIP(host) ? ofAddress(host) : 0;
}

function ofAddress(address: string): Nearness {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (machine.check(address, family)) return 2;
  return privateNets.check(address, family) ? 1 : 0;
}

/** Refuses what is nearer than allowed. The addresses that are connected to decide: a name may have others each time. */
export class AddressGuard {
  readonly #nearest: Nearness;
  readonly #refusal: (found: Nearness) => Error;
  /** How near it was in the end. A name that a proxy resolves counts as far. */
  found: Nearness;

  constructor(url: URL, nearest: Nearness, refusal: (found: Nearness) => Error) {
    this.#nearest = nearest;
    this.#refusal = refusal;
    this.found = nearnessOf(url);
    if (this.found > nearest) throw refusal(this.found);
  }

  readonly lookup: LookupFunction = (host, options, callback) =>
    lookup(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error, '');
      const found = Math.max(...addresses.map(({ address }) => ofAddress(address))) as Nearness;
      this.found = found;
      if (found > this.#nearest) callback(this.#refusal(found), '');
      else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
}
