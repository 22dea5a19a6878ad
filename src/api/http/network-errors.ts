/** What a failed connection means: in words, and for what to do next. */
import { errorCode, errorMessage } from '../../lib/errors.ts';
import { isLoopback } from '../../lib/urls.ts';

const UNKNOWN_AUTHORITY = 'its certificate is from an authority that is not known here';

/** The connection was not made. */
const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host is out of reach',
  ENETUNREACH: 'the network is out of reach',
  UND_ERR_CONNECT_TIMEOUT: 'the connection took too long',
  EPROTO: 'it does not speak TLS (https)',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS (https)',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS (https)',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  CERT_UNTRUSTED: UNKNOWN_AUTHORITY,
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

/** The connection was made, but no whole answer came. */
const unusable: Readonly<Record<string, string>> = {
  ECONNRESET: 'the connection broke off',
  EPIPE: 'the connection broke off',
  UND_ERR_SOCKET: 'the connection broke off',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped coming',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is not as long as announced',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
};

/** The proxy is out of reach or gave no connection to the service, so that nothing reached the service. */
export class ProxyError extends Error {
  readonly code = 'ERR_PROXY';
  /** May be gone on the next try. */
  readonly transient: boolean;
  /** What it answered to CONNECT. */
  readonly status: number | undefined;

  constructor(
    message: string,
    transient: boolean,
    { cause, status }: { readonly cause?: unknown; readonly status?: number } = {},
  ) {
    super(message, { cause });
    this.transient = transient;
    this.status = status;
  }

  static unreachable(cause: Error): ProxyError {
    return new ProxyError(`the proxy itself can't be reached: ${unreachableReason(cause)}`, true, { cause });
  }
}

export class NotHttpError extends Error {
  readonly code = 'ERR_NOT_HTTP';
  readonly isTls: boolean;

  constructor(isTls: boolean) {
    super(`the answer is not HTTP${isTls ? ', but TLS' : ''}`);
    this.isTls = isTls;
  }
}

/** `peer` is the host, and the proxy on the way to it. */
export function networkMessage(error: unknown, peer: string): string {
  const reason = unusableReason(error);
  return reason
    ? `no usable answer from ${peer}: ${reason}`
    : `can't reach ${peer}: ${unreachableReason(error)}`;
}

const unreachableReason = (error: unknown): string =>
  unreachable[errorCode(error) ?? ''] ?? (errorMessage(error) || 'unknown cause');

function unusableReason(error: unknown): string | undefined {
  const code = errorCode(error) ?? '';
  if (unusable[code]) return unusable[code];
  if (error instanceof NotHttpError) return error.message;
  // undici's parser; an assertion in it fails only at an answer that breaks the rules.
  const inParser = error instanceof Error && error.name === 'HTTPParserError';
  if (!inParser && code !== 'ERR_ASSERTION') return undefined;
  const [detail = ''] = / \([^)]*\)$/.exec(errorMessage(error)) ?? [];
  return `the answer is not valid HTTP${detail}`;
}

export const USE_HTTPS = 'begin the base URL with https://';

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_UNTRUSTED',
]);
/** The certificate is from an authority that is not known here. */
export const isUntrusted = (error: unknown): boolean => untrusted.has(errorCode(error) ?? '');

const notTls = new Set(['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);
const wrongTime = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);
const brokenOff = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** What to do about it, where that is known. */
export function networkHint(error: unknown, baseUrl: string): string | undefined {
  if (error instanceof NotHttpError)
    return error.isTls ? USE_HTTPS : `check the base URL ${baseUrl}: steno whoami`;
  if (error instanceof ProxyError) return proxyHint(error, baseUrl);
  const code = errorCode(error) ?? '';
  if (isUntrusted(error))
    return 'for a company or a self-signed certificate: export NODE_EXTRA_CA_CERTS=/path/to/ca.pem';
  if (notTls.has(code)) return plainHint(baseUrl);
  if (wrongTime.has(code))
    return 'check the clock of this machine; if it is right, the service must renew it';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `check the host in the base URL ${baseUrl}: steno whoami`;
  if (brokenOff.has(code) && baseUrl.startsWith('http:')) return `if the service speaks https, ${USE_HTTPS}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return 'check the base URL and the network: steno whoami; a network with a proxy needs HTTPS_PROXY';
  return neverConnected(error) ? 'check the base URL and the network: steno whoami' : undefined;
}

/** A key goes over plain http to this machine alone. */
const plainHint = (baseUrl: string): string =>
  isLoopback(new URL(baseUrl).hostname)
    ? `if it serves plain http, begin the base URL with http://: ${baseUrl.replace(/^https/, 'http')}`
    : `check the port of the base URL ${baseUrl}: steno whoami`;

function proxyHint(error: ProxyError, baseUrl: string): string {
  const { hostname, protocol } = new URL(baseUrl);
  const variable = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  return error.status === 407
    ? `the proxy asks who you are: ${variable}=http://name:password@host:port`
    : `check the proxy in ${variable}; NO_PROXY=${hostname} reaches the service without it`;
}

/** May be gone on the next try. A peer that does not speak HTTP will not learn it. */
export function isTransientNetworkError(error: unknown): boolean {
  if (error instanceof ProxyError) return error.transient;
  const code = errorCode(error) ?? '';
  const isLasting = untrusted.has(code) || wrongTime.has(code);
  return !(error instanceof NotHttpError || isLasting || code === 'ERR_TLS_CERT_ALTNAME_INVALID');
}

const neverConnectedCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_PROXY',
]);

/** No connection was made, so that nothing can have been sent. */
export const neverConnected = (error: unknown): boolean => neverConnectedCodes.has(errorCode(error) ?? '');
