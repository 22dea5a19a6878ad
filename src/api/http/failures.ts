/** What a status, a body or a broken connection means for the user, and whether asking again may help. */
import { formatDuration } from '../../lib/duration.ts';
import { type Details, errorCode, type Kind, StenoError } from '../../lib/errors.ts';
import { readStart } from './body.ts';
import type { Call, CallResponse } from './call.ts';
import { parseRetryAfter } from './retry-after.ts';
import { messageInText } from './service-message.ts';

export class CallError extends StenoError {
  /** May be gone on the next try: a read is worth repeating. */
  readonly transient: boolean;
  /** What the service asked to wait, in milliseconds. */
  readonly retryAfter: number | undefined;
  /** The call may have been carried out, and money spent. */
  readonly outcomeUnknown: boolean;

  constructor(
    kind: Kind,
    message: string,
    more: Details & { transient?: boolean; retryAfter?: number | undefined; outcomeUnknown?: boolean } = {},
  ) {
    super(kind, message, more);
    this.transient = more.transient ?? false;
    this.retryAfter = more.retryAfter;
    this.outcomeUnknown = more.outcomeUnknown ?? false;
  }
}

const transientStatuses = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Makes an error of an answer that is not a success. */
export async function statusError(call: Call, response: CallResponse): Promise<CallError> {
  const { status, headers } = response;
  const said = messageInText(await readStart(response, 65_536), response.hide);
  const retryAfter = parseRetryAfter(headers['retry-after'], Date.now());
  const more = { status, retryAfter, transient: transientStatuses.has(status) };
  const answered = `HTTP ${status}${said ? `: ${said}` : ''}`;
  if (call.safety === 'money' && leavesOpen(status))
    return uncertain(call, `the service answered ${answered}`, more);
  if (status < 400) {
    const target = headers.location ? ` to ${headers.location}` : '';
    const hint = 'redirects are not followed, for the key would go with them: check the base URL';
    return new CallError('failed', `the service redirects${target} (HTTP ${status})`, { ...more, hint });
  }
  if (status === 401 || status === 403) {
    const hint = 'check it with: steno whoami   or keep another with: steno login';
    return new CallError('auth', `the service did not accept the key (${answered})`, { ...more, hint });
  }
  if (status === 404) return new CallError('missing', `the service does not know it (${answered})`, more);
  const wait =
    retryAfter === undefined ? undefined : `the service asks to wait ${formatDuration(retryAfter)}`;
  return new CallError('failed', `the service refused (${answered})`, { ...more, hint: wait });
}

/** 4xx and 503 are clear refusals; after anything else the call may have gone through. */
const leavesOpen = (status: number): boolean => status < 400 || (status >= 500 && status !== 503);

interface Circumstances {
  readonly sent: boolean;
  readonly interrupted: boolean;
  readonly timedOut: boolean;
  readonly host: string;
}

/** Makes an error of a call that ended without an answer. */
export function transportError(call: Call, cause: unknown, at: Circumstances): StenoError {
  const outcomeUnknown = call.safety === 'money' && at.sent;
  if (at.interrupted) {
    const hint = outcomeUnknown ? `it may have gone through: ${look(call)}` : undefined;
    return new CallError('interrupted', 'interrupted', { hint, cause, outcomeUnknown });
  }
  const what = at.timedOut ? `${at.host} did not answer in time` : describe(cause, at.host);
  if (outcomeUnknown) return uncertain(call, what, { cause });
  if (at.timedOut) return new CallError('timeout', what, { cause, hint: 'a longer limit: --timeout 2m' });
  const hint = at.sent ? undefined : 'check the base URL and the network: steno whoami';
  return new CallError('network', what, { cause, hint, transient: true });
}

/** An order, upgrade or refund that may or may not have been carried out. */
export function uncertain(call: Call, what: string, more: Details = {}): CallError {
  return new CallError('uncertain', `${what}; it may have gone through`, {
    ...more,
    hint: look(call),
    outcomeUnknown: true,
  });
}

const look = (call: Call): string =>
  call.path.startsWith('/audiofile/')
    ? 'look at the file and the balance before you run it again: steno file, steno balance'
    : 'look at the balance and at your account before you order again: steno balance';

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host is out of reach',
  ENETUNREACH: 'the network is out of reach',
  ECONNRESET: 'the connection broke off',
  EPIPE: 'the connection broke off',
  UND_ERR_SOCKET: 'the connection broke off',
  UND_ERR_CONNECT_TIMEOUT: 'the connection took too long',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped coming',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is not as long as announced',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

/** The service was never connected to. */
export const neverReached = (error: unknown): boolean =>
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(
    errorCode(error) ?? '',
  );

export function describe(cause: unknown, host: string): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  return `can't reach ${host}: ${(code && words[code]) ?? message ?? 'unknown cause'}`;
}
