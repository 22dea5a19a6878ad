/** Addresses: how near to this machine one is, a guard for those that untrusted text names, and how one is shown. */
import type { BlockList, LookupFunction } from 'node:net';
import { StenoError } from '../../lib/errors.ts';
import { withoutSignature } from '../../lib/signatures.ts';
import { oneLine } from '../../lib/text.ts';
import { isUrl } from '../../lib/url.ts';

/** 2: this machine; 1: a private network; 0: any other. */
export type Nearness = 0 | 1 | 2;

/** Speed: loaded on first use, as is node:dns. Commands that may call the service and don't would lose 3 ms. */
const net = (): typeof import('node:net') => process.getBuiltinModule('node:net');

function listOf(nets: readonly string[]): BlockList {
  const list = new (net().BlockList)();
  for (const each of nets) {
    const [start = '', bits] = each.split('/');
    list.addSubnet(start, Number(bits), familyOf(start));
  }
  return list;
}

/** Speed: `isIP` compiles an expression that takes 7 ms, at every start. */
const familyOf = (address: string): 'ipv4' | 'ipv6' => (address.includes(':') ? 'ipv6' : 'ipv4');

const machineNets = ['127.0.0.0/8', '0.0.0.0/8', '::/127'];
const privateNets = [
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '100.64.0.0/10'],
  ...['fc00::/7', 'fe80::/10'],
];

/** Of a URL's host as it is written; a name tells nothing, except that of this machine. */
export function nearnessOf({ hostname }: URL): Nearness {
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return 2;
  return net().isIP(host) ? ofAddress(host) : 0;
}

function ofAddress(address: string): Nearness {
  if (listOf(machineNets).check(address, familyOf(address))) return 2;
  return listOf(privateNets).check(address, familyOf(address)) ? 1 : 0;
}

/** Refuses what is nearer than allowed. The addresses that are connected to decide: a name may have others each time. */
export class AddressGuard {
  readonly #nearest: Nearness;
  /** How it was come by, for errors. */
  readonly #way: string;
  /** How near it was in the end. A name that a proxy resolves counts as far. */
  found: Nearness;

  constructor(url: URL, nearest: Nearness, way: string) {
    this.#nearest = nearest;
    this.#way = way;
    this.found = nearnessOf(url);
    if (this.found > nearest) throw this.#refusal();
  }

  #refusal(): StenoError {
    const where = this.found === 2 ? 'this machine' : 'a private address';
    return new StenoError('failed', `${this.#way}, which is ${where}`);
  }

  readonly lookup: LookupFunction = (host, options, callback) =>
    process.getBuiltinModule('node:dns').lookup(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error, '');
      this.found = Math.max(...addresses.map(({ address }) => ofAddress(address))) as Nearness;
      if (this.found > this.#nearest) callback(this.#refusal(), '');
      else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
}

/** The header that carries the name and password of a URL; undefined where it has none. */
export function basicAuth({ username, password }: URL): string | undefined {
  if (!username) return undefined;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`;
}

/** A percent sign that begins no escape stands for itself. */
const decoded = (text: string): string =>
  text.replace(/(%[0-9a-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString());

const MAX_SHOWN_LENGTH = 200;

/** An address as it may be shown: without a password, and without parameters, one of which may be a token. */
export function shownAddress(text: string): string {
  const { origin, pathname, search } = new URL(text);
  return oneLine(`${origin}${pathname}`, MAX_SHOWN_LENGTH) + (search ? '?…' : '');
}

/** Where a redirect of `url` leads, as it may be shown: without credentials, and of a bounded length. */
export function redirectTarget(location: string, url: string, hide: (text: string) => string): string {
  let target = location;
  if (isUrl(location, url)) {
    const parsed = new URL(location, url);
    parsed.username = '';
    parsed.password = '';
    target = withoutSignature(parsed.href);
  }
  // Masked before it is cut, or the beginning of a key would stay.
  return oneLine(hide(target), MAX_SHOWN_LENGTH);
}
