/** What a failed connection means: in words, and for what to do next. */
import { errorCode, errorMessage } from '../../lib/errors.ts';

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

  constructor(message: string, transient: boolean, cause?: unknown) {
    super(message, { cause });
    this.transient = transient;
  }

  static unreachable(cause: Error): ProxyError {
    return new ProxyError(`the proxy itself can't be reached: ${unreachableReason(cause)}`, true, cause);
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

/** What to do about it, where that is known. */
export function networkHint(error: unknown): string | undefined {
  if (error instanceof NotHttpError) return error.isTls ? 'begin the base URL with https://' : undefined;
  if (error instanceof ProxyError)
    return 'check the proxy in HTTPS_PROXY or HTTP_PROXY; NO_PROXY names hosts to reach without it';
  return neverConnected(error) ? 'check the base URL and the network: steno whoami' : undefined;
}

/** May be gone on the next try. A peer that does not speak HTTP will not learn it. */
export function isTransientNetworkError(error: unknown): boolean {
  if (error instanceof ProxyError) return error.transient;
  return !(error instanceof NotHttpError);
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
