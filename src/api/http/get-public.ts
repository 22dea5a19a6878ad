/** GETs a public address, such as a feed: not of the service, so without the key, and redirects are followed. */

import type { Dispatcher } from 'undici';
import { monotonicMs } from '../../lib/clock.ts';
import type { Env } from '../../lib/env.ts';
import { StenoError, usage } from '../../lib/errors.ts';
import { isUrl } from '../../lib/is-url.ts';
import { oneLine } from '../../lib/text.ts';
import { basicAuth } from './basic-auth.ts';
import { streamBody, unknownEncoding } from './body.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { exchange, type HttpResponse } from './exchange.ts';
import { CallError } from './failures.ts';
import { AddressGuard, type Nearness } from './nearness.ts';
import {
  isTransientNetworkError,
  isUntrusted,
  networkHint,
  networkMessage,
  ProxyError,
} from './network-errors.ts';
import { Outage } from './outage.ts';
import { openPool } from './pool.ts';
import { proxyFor } from './proxy.ts';
import { ReadTries } from './read-tries.ts';
import { redirectTarget } from './redirect.ts';
import { parseRetryAfter } from './retry-after.ts';
import { isRedirect, isTransient } from './status.ts';
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
const MAX_SHOWN_LENGTH = 200;

export async function getPublic(request: PublicRequest): Promise<PublicAnswer> {
  const { signal } = request;
  const endsAt = monotonicMs() + request.limitMs;
  const tries = new ReadTries({ outage: new Outage(), endsAt, signal, onRetry: () => {} });
  for (;;) {
    const deadline = startDeadline(endsAt - monotonicMs(), signal);
    try {
      return await follow(request, deadline);
    } catch (error) {
      await tries.failed(error);
    } finally {
      deadline.clear();
    }
  }
}

/** The user may name any address. What an untrusted server or document names leads no nearer to this machine than it is. */
async function follow(request: PublicRequest, deadline: Deadline): Promise<PublicAnswer> {
  const { namedBy, namedFrom = 0 } = request;
  let url = new URL(request.url);
  let nearest: Nearness = namedBy === undefined ? 2 : namedFrom;
  let way = '';
  for (const redirects: string[] = []; redirects.length <= MAX_REDIRECTS; redirects.push(url.href)) {
    if (namedBy !== undefined) way = `${shownAddress(namedBy)} leads to ${shownAddress(url.href)}`;
    if (namedBy?.startsWith('https:') && url.protocol !== 'https:')
      throw new StenoError('failed', `${way}, which is not https`);
    const guard = new AddressGuard(url, nearest, tooNear(way));
    const answer = await getOnce(request, url, guard, deadline);
    if ('bytes' in answer) return { ...answer, nearness: guard.found, redirects };
    way = `${shownAddress(url.href)} redirects to ${redirectTarget(answer.location, url.href, (text) => text)}`;
    url = nextUrl(answer.location, url, way);
    nearest = Math.min(nearest, guard.found) as Nearness;
  }
  throw new StenoError('failed', `${shownAddress(request.url)} redirects more than ${MAX_REDIRECTS} times`);
}

const tooNear =
  (way: string) =>
  (found: Nearness): StenoError =>
    new StenoError('failed', `${way}, which is ${found === 2 ? 'this machine' : 'a private address'}`);

async function getOnce(
  request: PublicRequest,
  url: URL,
  guard: AddressGuard,
  deadline: Deadline,
): Promise<Omit<PublicAnswer, 'redirects' | 'nearness'> | { location: string }> {
  const proxy = proxyFor(url, request.env);
  const pool = await openPool(url, proxy, proxy ? {} : { lookup: guard.lookup });
  let response: HttpResponse | undefined;
  try {
    request.trace?.(`> GET ${shownAddress(url.href)}`);
    response = await exchange(pool.sender, dispatchOptions(request, url), deadline.signal);
    const { status, headers } = response;
    request.trace?.(`< ${status} ${headers['content-type'] ?? ''}`);
    if (isRedirect(status) && headers.location) return { location: headers.location };
    if (status >= 300) throw statusFailure(url, response);
    const bytes = await readBounded(response, url, request.maxBytes);
    const { link: links = '', 'content-type': contentType = '' } = headers;
    return { url: url.href, contentType, links, bytes };
  } catch (error) {
    if (error instanceof StenoError && error.kind !== 'interrupted') throw error;
    throw failureOf(error, { peer: pool.peer, url }, deadline, request.signal);
  } finally {
    response?.body.discard();
    await pool.close();
  }
}

function dispatchOptions(
  { accept, userAgent, url: given }: PublicRequest,
  url: URL,
): Dispatcher.DispatchOptions {
  // A password in the address is for its own host, never for a redirect's.
  const first = new URL(given);
  const authorization = first.origin === url.origin ? basicAuth(first) : undefined;
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'GET',
    headers: {
      'user-agent': userAgent,
      accept,
      'accept-encoding': 'gzip',
      ...(authorization && { authorization }),
    },
    // The deadline bounds both.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
}

/** Where a redirect leads, if it may be followed. */
function nextUrl(location: string, from: URL, way: string): URL {
  if (!isUrl(location, from.href)) throw new StenoError('failed', `${way}, which is no address`);
  const url = new URL(location, from.href);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new StenoError('failed', `${way}, which is not http or https`);
  url.username = '';
  url.password = '';
  return url;
}

function statusFailure(url: URL, { status, headers }: HttpResponse): CallError {
  const retryAfter = parseRetryAfter(headers['retry-after'], Date.now());
  const hints: Readonly<Record<number, string>> = {
    401: 'it wants a password or a token: copy its whole address',
    403: 'it wants a password or a token: copy its whole address',
    404: 'check the address',
    410: 'it is gone for good: look for its new address',
  };
  return new CallError('failed', `${shownAddress(url.href)} answered HTTP ${status}`, {
    status,
    retryAfter,
    transient: isTransient(status),
    hint: hints[status],
  });
}

async function readBounded(response: HttpResponse, url: URL, maxBytes: number): Promise<Buffer> {
  const tooLarge = (): StenoError =>
    usage(`${shownAddress(url.href)} is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB`);
  const encoding = unknownEncoding(response);
  if (encoding)
    throw new StenoError(
      'failed',
      `${shownAddress(url.href)} is compressed as ${encoding}, which is not known`,
    );
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  await streamBody(response, (chunk) => {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  });
  return Buffer.concat(chunks);
}

function failureOf(
  cause: unknown,
  { peer, url }: { readonly peer: string; readonly url: URL },
  deadline: Deadline,
  signal: AbortSignal,
): CallError {
  if (signal.aborted) return new CallError('interrupted', 'interrupted', { cause });
  if (deadline.expired)
    return new CallError('timeout', `${peer} did not answer in time`, {
      cause,
      hint: 'a longer limit: --timeout 5m',
    });
  const hint = cause instanceof ProxyError || isUntrusted(cause) ? networkHint(cause, url.origin) : undefined;
  return new CallError('network', networkMessage(cause, peer), {
    cause,
    hint,
    transient: isTransientNetworkError(cause),
  });
}

/** An address as it may be shown: without a password, and without parameters, one of which may be a token. */
export function shownAddress(text: string): string {
  const { origin, pathname, search } = new URL(text);
  return oneLine(`${origin}${pathname}`, MAX_SHOWN_LENGTH) + (search ? '?…' : '');
}
