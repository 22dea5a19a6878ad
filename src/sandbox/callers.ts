/** Who may call: programs, under an address of this machine. Not web pages, nor names that lead here by deceit. */
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { isLoopback } from '../lib/urls.ts';
import { Refusal } from './refusal.ts';

/** `boundTo` is the address that the sandbox was told to listen on. */
export function checkCaller(headers: IncomingHttpHeaders, boundTo: string): void {
  if (isFromPage(headers)) throw new Refusal(403, 'The sandbox takes no calls from web pages.');
  const { host } = headers;
  if (host !== undefined && !isOurs(hostOf(host), boundTo.toLowerCase()))
    throw new Refusal(403, 'The sandbox is not called by this host name: use 127.0.0.1 or localhost.');
}

/** A browser tells these; an address that a person has typed is `none`. */
function isFromPage({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  return origin !== undefined || (site !== undefined && site !== 'none');
}

/** Without its port and brackets. */
const hostOf = (header: string): string =>
  header
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1');

/** A page can have its own name lead to this machine, but not an address. */
function isOurs(host: string, boundTo: string): boolean {
  if (host === '::1' || isLoopback(host) || host === boundTo) return true;
  const boundToAll = boundTo === '0.0.0.0' || boundTo === '::';
  return boundToAll && (isIP(host) !== 0 || host === hostname().toLowerCase());
}
