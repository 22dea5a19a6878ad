/** Makes errors of responses and broken connections, and says whether a repeat may help. */
import { formatDuration } from '../../lib/duration.ts';
import { type Details, type Kind, StenoError } from '../../lib/errors.ts';
import { readStart } from './body.ts';
import type { Call, CallResponse } from './call.ts';
import { isTransientNetworkError, networkHint, networkMessage, USE_HTTPS } from './network-errors.ts';
import { redirectTarget } from './redirect.ts';
import { parseRetryAfter } from './retry-after.ts';
import { baseUrlHint, type CallOrigin, keyHint, subjectOf, wantsTls } from './service-hints.ts';
import { messageInText } from './service-message.ts';
import { isRedirect, isRefusal, isTransient } from './status.ts';

interface CallErrorDetails extends Details {
  /** May be gone on the next try: a read is worth repeating. */
  readonly transient?: boolean;
  /** What the service asked to wait, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** The call may have been carried out, and money spent. */
  readonly outcomeUnknown?: boolean;
}

export class CallError extends StenoError {
  readonly transient: boolean;
  readonly retryAfter: number | undefined;
  readonly outcomeUnknown: boolean;
  /** The service as a whole is down or busy, and was tried again for long enough: others need not be asked. */
  serviceDown = false;

  constructor(kind: Kind, message: string, details: CallErrorDetails = {}) {
    super(kind, message, details);
    this.transient = details.transient ?? false;
    this.retryAfter = details.retryAfter;
    this.outcomeUnknown = details.outcomeUnknown ?? false;
  }
}

const MAX_MESSAGE_BYTES = 65_536;

/** The error for a response whose status is not a success. */
export async function statusError(
  call: Call,
  response: CallResponse,
  origin: CallOrigin,
): Promise<CallError> {
  const { status, headers } = response;
  const text = await readStart(response, MAX_MESSAGE_BYTES);
  const message = messageInText(text, response.hide);
  const retryAfter = parseRetryAfter(headers['retry-after'], Date.now());
  const details = { status, retryAfter, transient: isTransient(status) };
  // A gateway's answer may be that of the proxy on the way.
  const through = status >= 502 && origin.peer.includes(' through ') ? `, ${origin.peer}` : '';
  const answered = `HTTP ${status}${message ? `: ${message}` : ''}${through}`;
  const redirect = redirectMessage(response);
  if (call.safety === 'money' && !isRefusal(status))
    return outcomeUnknownError(call, redirect ?? `the service answered ${answered}`, details);
  if (redirect) {
    const hint = 'redirects are not followed, because the key would be sent along: check the base URL';
    return new CallError('failed', redirect, { ...details, hint });
  }
  if (status === 401 || status === 403) {
    const hint = keyHint(origin.keySource);
    return new CallError('auth', `the service did not accept the key (${answered})`, { ...details, hint });
  }
  if (status === 404) return missingError(call, answered, details, origin);
  const verdict = status < 500 ? 'refused' : 'failed';
  const hint = wantsTls(status, text) ? USE_HTTPS : waitHint(retryAfter);
  return new CallError('failed', `the service ${verdict} (${answered})`, { ...details, hint });
}

const waitHint = (retryAfter: number | undefined): string | undefined =>
  retryAfter === undefined ? undefined : `the service asks to wait ${formatDuration(retryAfter)}`;

/** What is asked about does not exist; or the address is not that of the service. */
function missingError(
  { path }: Call,
  answered: string,
  details: CallErrorDetails,
  origin: CallOrigin,
): CallError {
  const subject = subjectOf(path);
  const hasVersion = /\/API\d+$/i.test(origin.baseUrl);
  const hint = subject !== undefined && hasVersion ? undefined : baseUrlHint(origin);
  const what = subject ?? `${path} at ${origin.baseUrl}`;
  return new CallError('missing', `the service does not know ${what} (${answered})`, { ...details, hint });
}

function redirectMessage({ status, headers, url, hide }: CallResponse): string | undefined {
  if (!isRedirect(status)) return undefined;
  const target = headers.location ? ` to ${redirectTarget(headers.location, url, hide)}` : '';
  return `the service redirects${target} (HTTP ${status})`;
}

interface Interruption {
  /** Some of the request may have reached the service. */
  readonly sent: boolean;
  /** By the user. */
  readonly interrupted: boolean;
  readonly timedOut: boolean;
  /** The head of an answer came: address and scheme are right. */
  readonly answered?: boolean;
  readonly origin: CallOrigin;
}

/** The error for a call that ended without a response. */
export function connectionError(
  call: Call,
  cause: unknown,
  { sent, interrupted, timedOut, answered = false, origin }: Interruption,
): CallError {
  const { peer } = origin;
  const outcomeUnknown = call.safety === 'money' && sent;
  if (interrupted && outcomeUnknown)
    return outcomeUnknownError(call, 'interrupted before the answer came', { cause });
  if (interrupted) return new CallError('interrupted', 'interrupted', { cause });
  const message = timedOut ? `${peer} did not answer in time` : networkMessage(cause, peer);
  if (outcomeUnknown) return outcomeUnknownError(call, message, { cause });
  if (timedOut) return new CallError('timeout', message, { cause, hint: 'a longer limit: --timeout 2m' });
  const details = {
    cause,
    hint: answered ? undefined : networkHint(cause, origin.baseUrl),
    transient: isTransientNetworkError(cause),
  };
  return new CallError('network', message, details);
}

/** The error for an order, upgrade or refund that may or may not have been carried out. */
export const outcomeUnknownError = (call: Call, message: string, details: Details = {}): CallError =>
  new CallError('uncertain', `${message}; it may have gone through`, {
    ...details,
    hint: whatToCheck(call),
    outcomeUnknown: true,
  });

function whatToCheck({ path, params }: Call): string {
  if (params?.has('test')) return 'it was a test, which costs nothing: run it again';
  return path.startsWith('/audiofile/')
    ? 'look at the file and the balance before you run it again: steno file, steno balance'
    : 'look at the balance and at your account before you order again: steno balance';
}
