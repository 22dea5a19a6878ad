/** What a failed connection means: in words, and for what to do next. */
import { errorCode, errorMessage } from '../../lib/errors.ts';
import { isLoopback } from '../../lib/url.ts';

export const USE_HTTPS = 'start the base URL with https://';
const CHECK_NETWORK = 'check the base URL and the network: steno whoami';
const NO_TLS = 'it does not speak TLS (https)';
const UNKNOWN_AUTHORITY = 'its certificate is from an unknown authority';
const NOT_HTTP = 'the answer is not HTTP';
const BROKEN_OFF = 'the connection was lost';

/** The kinds of trouble, and what to do about each where that is known. */
const hints = {
  unreached: () => CHECK_NETWORK,
  noHost: () => `${CHECK_NETWORK}; behind a proxy, set HTTPS_PROXY`,
  noTls: (baseUrl) => plainHint(baseUrl),
  untrusted: () => 'for a company or a self-signed certificate: export NODE_EXTRA_CA_CERTS=/path/to/ca.pem',
  wrongTime: () => 'check the clock of this machine; if it is right, the service must renew its certificate',
  wrongName: (baseUrl) => `check the host in the base URL ${baseUrl}: steno whoami`,
  /** The connection was made, but no whole answer came. */
  broken: (baseUrl) =>
    baseUrl.startsWith('http:') ? `if the service speaks https, ${USE_HTTPS}` : undefined,
  unusable: () => undefined,
  notHttp: (baseUrl) => `check the base URL ${baseUrl}: steno whoami`,
  wantsTls: () => USE_HTTPS,
} as const satisfies Readonly<Record<string, (baseUrl: string) => string | undefined>>;

type Trouble = keyof typeof hints;

const troubles: Readonly<Record<string, readonly [Trouble, reason: string]>> = {
  ECONNREFUSED: ['unreached', 'the connection was refused'],
  EHOSTUNREACH: ['unreached', 'the host is unreachable'],
  ENETUNREACH: ['unreached', 'the network is unreachable'],
  UND_ERR_CONNECT_TIMEOUT: ['unreached', 'connecting took too long'],
  ENOTFOUND: ['noHost', 'there is no such host'],
  EAI_AGAIN: ['noHost', 'the host name could not be looked up'],
  EPROTO: ['noTls', NO_TLS],
  ERR_SSL_WRONG_VERSION_NUMBER: ['noTls', NO_TLS],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: ['noTls', NO_TLS],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['untrusted', 'its certificate is self-signed'],
  SELF_SIGNED_CERT_IN_CHAIN: ['untrusted', UNKNOWN_AUTHORITY],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['untrusted', UNKNOWN_AUTHORITY],
  UNABLE_TO_GET_ISSUER_CERT: ['untrusted', UNKNOWN_AUTHORITY],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ['untrusted', UNKNOWN_AUTHORITY],
  CERT_UNTRUSTED: ['untrusted', UNKNOWN_AUTHORITY],
  CERT_NOT_YET_VALID: ['wrongTime', 'its certificate is not valid yet'],
  CERT_HAS_EXPIRED: ['wrongTime', 'its certificate has expired'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['wrongName', 'its certificate is for another host'],
  ECONNRESET: ['broken', BROKEN_OFF],
  EPIPE: ['broken', BROKEN_OFF],
  UND_ERR_SOCKET: ['broken', BROKEN_OFF],
  UND_ERR_BODY_TIMEOUT: ['unusable', 'the answer stopped halfway'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['unusable', 'the answer is not as long as announced'],
  UND_ERR_HEADERS_OVERFLOW: ['unusable', 'the headers of the answer are too large'],
  // undici's own, at a status below 100.
  ERR_ASSERTION: ['notHttp', NOT_HTTP],
};

/** Nothing, where the error is of no known kind. */
function troubleOf(error: unknown): readonly [trouble?: Trouble, reason?: string] {
  const isOfParser = error instanceof Error && error.name === 'HTTPParserError';
  if (!isOfParser) return troubles[errorCode(error) ?? ''] ?? [];
  // The bytes that the parser rejected: a TLS record.
  if (/^[\x14-\x17]\x03/.test((error as { data?: string }).data ?? ''))
    return ['wantsTls', `${NOT_HTTP}, but TLS`];
  const [detail = ''] = / \([^)]*\)$/.exec(error.message) ?? [];
  return ['notHttp', NOT_HTTP + detail];
}

/** The proxy is out of reach or gave no connection to the service, so that nothing reached the service. */
export class ProxyError extends Error {
  /** May be gone on the next try. */
  readonly transient: boolean;
  /** What it answered to CONNECT. */
  readonly status: number | undefined;

  constructor(message: string, transient: boolean, details: { cause?: unknown; status?: number } = {}) {
    super(message, details);
    this.transient = transient;
    this.status = details.status;
  }

  static unreachable(cause: Error): ProxyError {
    return new ProxyError(`the proxy itself can't be reached: ${reasonOf(cause)}`, true, { cause });
  }
}

const reasonOf = (error: unknown): string => troubleOf(error)[1] ?? (errorMessage(error) || 'unknown cause');

const answered = new Set<Trouble | undefined>(['broken', 'unusable', 'notHttp', 'wantsTls']);
const lasting = new Set<Trouble | undefined>(['untrusted', 'wrongTime', 'wrongName', 'notHttp', 'wantsTls']);

/** `peer` is the host, and the proxy on the way to it. */
export function networkMessage(error: unknown, peer: string): string {
  const [trouble] = troubleOf(error);
  return answered.has(trouble)
    ? `no usable answer from ${peer}: ${reasonOf(error)}`
    : `can't reach ${peer}: ${reasonOf(error)}`;
}

/** The certificate is from an authority that is not known here. */
export const isUntrusted = (error: unknown): boolean => troubleOf(error)[0] === 'untrusted';

/** No connection was made, so that nothing can have been sent. */
export const neverConnected = (error: unknown): boolean =>
  error instanceof ProxyError || ['unreached', 'noHost'].includes(troubleOf(error)[0] ?? '');

/** May be gone on the next try. A peer that does not speak HTTP will not learn it. */
export function isTransientNetworkError(error: unknown): boolean {
  return error instanceof ProxyError ? error.transient : !lasting.has(troubleOf(error)[0]);
}

/** What to do about it, where that is known. */
export function networkHint(error: unknown, baseUrl: string): string | undefined {
  if (error instanceof ProxyError) return proxyHint(error, baseUrl);
  const [trouble = 'unusable'] = troubleOf(error);
  return hints[trouble](baseUrl);
}

/** A key goes over plain http to this machine alone. */
const plainHint = (baseUrl: string): string =>
  isLoopback(new URL(baseUrl).hostname)
    ? `if it serves plain http, start the base URL with http://: ${baseUrl.replace(/^https/, 'http')}`
    : `check the port of the base URL ${baseUrl}: steno whoami`;

function proxyHint(error: ProxyError, baseUrl: string): string {
  const { hostname, protocol } = new URL(baseUrl);
  const variable = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  return error.status === 407
    ? `the proxy requires a login: ${variable}=http://name:password@host:port`
    : `check the proxy in ${variable}; NO_PROXY=${hostname} reaches the service without it`;
}
