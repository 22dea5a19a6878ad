/** Requests without the key: to a public address such as a feed, to a target of the user's, or to see what answers. */

import type { Env } from '../../lib/env.ts';
import { StenoError, usage } from '../../lib/errors.ts';
import { monotonicMs } from '../../lib/time.ts';
import { isUrl } from '../../lib/url.ts';
import { AddressGuard, basicAuth, type Nearness, redirectTarget, shownAddress } from './address.ts';
import {
  type EarlyEnd,
  exchange,
  type HttpRequest,
  type HttpResponse,
  readBytes,
  readStart,
  unknownEncoding,
} from './exchange.ts';
import { CallError, connectionError, endMessage, isRedirect, statusDetails } from './failures.ts';
import { isUntrusted, networkHint, neverConnected, ProxyError } from './network-errors.ts';
import { openPool, withPool } from './pool.ts';
import { Retries } from './retry.ts';
import type { Trace } from './transport.ts';

export interface PublicRequest {
  readonly url: string;
  /** The document that names this address, where the user does not. */
  readonly namedBy?: string | undefined;
  /** How near that document was. */
  readonly namedFrom?: Nearness | undefined;
  readonly accept: string;
  readonly maxBytes: number;
  /** For all of it, redirects and repeats included. */
  readonly limitMs: number;
  readonly userAgent: string;
  readonly env: Env;
  /** The user's interruption. */
  readonly signal: AbortSignal;
  /** Shows a line; only with --debug. */
  readonly trace?: Trace | undefined;
}

/** What does not depend on the address. */
export type PublicReading = Pick<PublicRequest, 'userAgent' | 'env' | 'signal' | 'trace'>;

export interface PublicAnswer {
  /** Where it came from in the end. */
  readonly url: string;
  /** Where each redirect led; the last is `url`. */
  readonly redirects: readonly string[];
  readonly contentType: string;
  /** How near to this machine it came from. */
  readonly nearness: Nearness;
  /** The header `Link`. */
  readonly links: string;
  readonly bytes: Buffer;
}

const MAX_REDIRECTS = 10;

/** GETs a public address; redirects are followed. */
export function getPublic(request: PublicRequest): Promise<PublicAnswer> {
  const { signal, limitMs } = request;
  const endsAt = monotonicMs() + limitMs;
  return new Retries().send(() => follow(request, endsAt), { endsAt, signal });
}

/** The user may name any address. What an untrusted server or document names leads no nearer to this machine than it is. */
async function follow(request: PublicRequest, endsAt: number): Promise<PublicAnswer> {
  const { namedBy, namedFrom = 0 } = request;
  let url = new URL(request.url);
  let nearest: Nearness = namedBy === undefined ? 2 : namedFrom;
  let way = '';
  for (const redirects: string[] = []; redirects.length <= MAX_REDIRECTS; redirects.push(url.href)) {
    if (namedBy !== undefined) way = `${shownAddress(namedBy)} leads to ${shownAddress(url.href)}`;
    if (namedBy?.startsWith('https:') && url.protocol !== 'https:')
      throw new StenoError('failed', `${way}, which is not https`);
    const guard = new AddressGuard(url, nearest, way);
    const { location, ...answer } = await getOnce(request, url, guard, endsAt);
    if (location === undefined) return { ...answer, nearness: guard.found, redirects };
    way = `${shownAddress(url.href)} redirects to ${redirectTarget(location, url.href, (text) => text)}`;
    url = nextUrl(location, url, way);
    nearest = Math.min(nearest, guard.found) as Nearness;
  }
  throw new StenoError('failed', `${shownAddress(request.url)} redirects more than ${MAX_REDIRECTS} times`);
}

async function getOnce(request: PublicRequest, url: URL, { lookup }: AddressGuard, endsAt: number) {
  const { accept, userAgent, env, maxBytes, signal, trace } = request;
  // A password in the address is for its own host, never for a redirect's.
  const given = new URL(request.url);
  const authorization = given.origin === url.origin ? basicAuth(given) : undefined;
  const asked = requestTo(url, { 'user-agent': userAgent, accept, 'accept-encoding': 'gzip' }, authorization);
  return withPool(url, env, { lookup }, ({ send, peer }) => {
    trace?.(`> GET ${shownAddress(url.href)}`);
    const limits = { limitMs: endsAt - monotonicMs(), interrupt: signal };
    const onResponse = async (response: HttpResponse) => {
      const { status, headers } = response;
      const { 'content-type': contentType = '', link: links = '' } = headers;
      trace?.(`< ${status} ${contentType}`);
      const location = isRedirect(status) ? headers.location || undefined : undefined;
      if (location === undefined && status >= 300) throw refusedAddress(url, response);
      const bytes = location === undefined ? await readPublic(response, url, maxBytes) : Buffer.alloc(0);
      return { location, url: url.href, contentType, links, bytes };
    };
    const onEarlyEnd = (end: EarlyEnd): never => {
      const hasHint = end.cause instanceof ProxyError || isUntrusted(end.cause);
      throw connectionError(end, peer, hasHint ? networkHint(end.cause, url.origin) : undefined, '5m');
    };
    return exchange(send, asked, limits, onResponse, onEarlyEnd);
  });
}

/** Where a redirect leads, if it may be followed. */
function nextUrl(location: string, from: URL, way: string): URL {
  if (!isUrl(location, from.href)) throw new StenoError('failed', `${way}, which is not a URL`);
  const url = new URL(location, from.href);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new StenoError('failed', `${way}, which is not http or https`);
  url.username = '';
  url.password = '';
  return url;
}

function refusedAddress(url: URL, response: HttpResponse): CallError {
  const { status } = response;
  const password = 'it requires a password or a token: copy its complete address';
  const hints: Readonly<Record<number, string>> = {
    401: password,
    403: password,
    404: 'check the address',
    410: 'it was removed for good: look for its new address',
  };
  const details = { ...statusDetails(response), hint: hints[status] };
  return new CallError('failed', `${shownAddress(url.href)} answered HTTP ${status}`, details);
}

function readPublic(response: HttpResponse, url: URL, maxBytes: number): Promise<Buffer> {
  const shown = shownAddress(url.href);
  const tooLarge = (): StenoError =>
    usage(`${shown} is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB`);
  const encoding = unknownEncoding(response);
  if (encoding) throw new StenoError('failed', `${shown} has an unknown compression: ${encoding}`);
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  return readBytes(response, maxBytes, tooLarge);
}

interface PostRequest {
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export type PostResult =
  | { readonly status: number; readonly location: string }
  /** No response came; `reached` says whether the target may have seen the request. */
  | { readonly error: string; readonly reached: boolean };

const POST_LIMIT_MS = 30_000;
/** A longer response costs its connection. */
const MAX_POST_RESPONSE_BYTES = 131_072;
const MAX_POST_CONNECTIONS = 64;

/** POSTs bytes to a URL of the user's, without retries. */
export async function openPostTarget(text: string, env: Env) {
  const url = new URL(text);
  const { send, peer, close } = await openPool(url, env, { connections: MAX_POST_CONNECTIONS });
  const onResponse = async (response: HttpResponse): Promise<PostResult> => {
    // Its text is not used, but a connection is reused only after the whole response was read.
    await readStart(response, MAX_POST_RESPONSE_BYTES);
    return { status: response.status, location: response.headers.location ?? '' };
  };
  const onEarlyEnd = (end: EarlyEnd): PostResult => ({
    error: endMessage(end, peer),
    reached: !neverConnected(end.cause),
  });
  const post = ({ contentType, body, headers }: PostRequest, interrupt: AbortSignal): Promise<PostResult> => {
    const own = { 'content-type': contentType, 'user-agent': `steno/${STENO_VERSION}`, ...headers };
    const request = { ...requestTo(url, own, basicAuth(url)), method: 'POST', body } as const;
    return exchange(send, request, { limitMs: POST_LIMIT_MS, interrupt }, onResponse, onEarlyEnd);
  };
  return { post, close };
}

interface Probe extends PublicReading {
  /** What a hint names. */
  readonly baseUrl: string;
  readonly path: string;
  readonly limitMs: number;
}

export interface ProbeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** From the first packet to the headers of the answer. */
  readonly roundTripMs: number;
}

/**
 * Asks the service for anything: whether it is there, how fast it is, and what its clock says. Throws where no answer
 * comes.
 */
export function probe({ baseUrl, path, env, userAgent, limitMs, signal }: Probe): Promise<ProbeAnswer> {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}${path}`);
  return withPool(url, env, {}, ({ send, peer }) => {
    const request = requestTo(url, { 'user-agent': userAgent, accept: 'application/json' });
    const startedAt = monotonicMs();
    const onResponse = async ({ status, headers }: HttpResponse): Promise<ProbeAnswer> => ({
      ...{ status, headers },
      roundTripMs: monotonicMs() - startedAt,
    });
    return exchange(send, request, { limitMs, interrupt: signal }, onResponse, (end) => {
      throw connectionError(end, peer, networkHint(end.cause, baseUrl));
    });
  });
}

const requestTo = (
  { origin, pathname, search }: URL,
  headers: Readonly<Record<string, string>>,
  authorization?: string,
): HttpRequest => ({
  ...{ origin, path: pathname + search, method: 'GET' },
  headers: { ...headers, ...(authorization && { authorization }) },
  // The exchange has a time limit.
  ...{ headersTimeout: 0, bodyTimeout: 0 },
});
