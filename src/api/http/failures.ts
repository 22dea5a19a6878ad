/** Makes errors of responses and broken connections, and says whether a repeat may help. */

import { type Details, type Kind, StenoError } from '../../lib/errors.ts';
import { formatDuration } from '../../lib/time.ts';
import { redirectTarget } from './address.ts';
import { type Call, type CallResponse, subjectOf } from './call.ts';
import { type EarlyEnd, readStart } from './exchange.ts';
import { messageInText } from './message.ts';
import { isTransientNetworkError, networkMessage, USE_HTTPS } from './network-errors.ts';

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

/** Where the calls go, and where the key came from. */
interface CallOrigin {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** As `whoami` names it: `flag`, `environment STENO_API_KEY`, `profile work`, `command of profile work`. */
  readonly keySource?: string | undefined;
  /** The host, and the proxy on the way to it. */
  readonly peer: string;
}

/** May be gone on the next try. */
export const isTransient = (status: number): boolean => [408, 425, 429, 500, 502, 503, 504].includes(status);

/** Names another address to ask; 304 and the like name none. */
export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

/** 4xx (but 408: a proxy may have given up waiting) and 503 refuse for certain; after others it may have gone through. */
const isRefusal = (status: number): boolean =>
  (status >= 400 && status < 500 && status !== 408) || status === 503;

/** What a status says of a repeat. */
export const statusDetails = ({ status, headers }: Pick<CallResponse, 'status' | 'headers'>) => ({
  status,
  retryAfter: parseRetryAfter(headers['retry-after'], Date.now()),
  transient: isTransient(status),
});

/** A year: more could not be shown as a time. */
const MAX_RETRY_AFTER_MS = 365 * 86400e3;

/** Retry-After, a number of seconds or a date, as milliseconds from `now`; nothing where that asks for no pause. */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (!text) return undefined;
  // Checked first, because Date.parse makes a date of almost anything.
  const date = /[a-z]{3}|\d{4}-\d\d-\d\d/i.test(text) ? Date.parse(text) : Number.NaN;
  const ms = /^\d+(\.\d+)?$/.test(text.trim()) ? Math.ceil(Number(text) * 1000) : date - now;
  // Past dates are ignored: this machine's clock may be ahead.
  return ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
}

const MAX_MESSAGE_BYTES = 65_536;

/** The error for a response whose status is not a success. */
export async function statusError(
  call: Call,
  response: CallResponse,
  origin: CallOrigin,
): Promise<CallError> {
  const { status } = response;
  const text = await readStart(response, MAX_MESSAGE_BYTES);
  const message = messageInText(text, response.hide);
  const details = statusDetails(response);
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
  const access = accessError(call.path, answered, { ...details, status }, origin);
  if (access) return access;
  const verdict = status < 500 ? 'refused' : 'failed';
  const pause = details.retryAfter && `the service asks to wait ${formatDuration(details.retryAfter)}`;
  const [, id] = /^a transcript of audiofile (.+) as \w+$/.exec(subjectOf(call.path) ?? '') ?? [];
  const notReady = status === 409 && id && `it may not be ready yet; wait for it: steno wait ${id}`;
  const hint = (wantsTls(status, text) && USE_HTTPS) || pause || notReady || undefined;
  return new CallError('failed', `the service ${verdict} (${answered})`, { ...details, hint });
}

/** What 401, 403 and 404 say: of the key, of what is asked about, or of the address. */
function accessError(
  path: string,
  answered: string,
  details: CallErrorDetails & { readonly status: number },
  { baseUrl, keySource }: CallOrigin,
): CallError | undefined {
  const subject = subjectOf(path);
  const { status } = details;
  if (status === 401 || (status === 403 && subject === undefined)) {
    const hint = keyHint(keySource);
    return new CallError('auth', `the service did not accept the key (${answered})`, { ...details, hint });
  }
  if (status === 403) {
    const hint = 'it may belong to another account; see which key is in use: steno whoami';
    return new CallError('auth', `this key has no access to ${subject} (${answered})`, { ...details, hint });
  }
  if (status !== 404) return undefined;
  const hint = subject !== undefined && hasVersion(baseUrl) ? undefined : baseUrlHint(baseUrl);
  const what = subject ?? `${path} at ${baseUrl}`;
  return new CallError('missing', `the service does not know ${what} (${answered})`, { ...details, hint });
}

/** What some servers answer to a plain http request on their TLS port. */
const wantsTls = (status: number, text: string): boolean =>
  status === 400 &&
  /plain HTTP request was sent to HTTPS port|speaking plain HTTP to an SSL-enabled/i.test(text);

const hasVersion = (baseUrl: string): boolean => /\/API\d+$/i.test(baseUrl);

/** For an answer that is not the service's: its address most likely lacks the version. */
export const baseUrlHint = (baseUrl: string): string =>
  hasVersion(baseUrl)
    ? `check the base URL ${baseUrl}: steno whoami`
    : `the base URL ${baseUrl} does not end in /API4; if that is missing, set base-url or STENO_BASE_URL to ${baseUrl}/API4`;

function keyHint(source = 'sandbox'): string {
  const [, kind, name = ''] = /^(\w+) ?(?:of profile )?(.*)$/.exec(source) ?? [];
  const flag = name === 'default' ? '' : ` --profile ${name}`;
  if (kind === 'flag') return 'the key came from --api-key: correct it, or save one: steno login';
  if (kind === 'environment')
    return `the key came from ${name}, which overrides a saved key: correct or unset it; see: steno whoami`;
  if (kind === 'command')
    return `the key came from the key command of profile ${name}: steno config get api-key-command${flag}`;
  if (kind === 'profile') return `the key came from ${source}; save another one: steno login${flag}`;
  return 'see which key is in use: steno whoami; save another one: steno login';
}

function redirectMessage({ status, headers, url, hide }: CallResponse): string | undefined {
  if (!isRedirect(status)) return undefined;
  const target = headers.location ? ` to ${redirectTarget(headers.location, url, hide)}` : '';
  return `the service redirects${target} (HTTP ${status})`;
}

/** The error for an exchange that ended before its response was read; `longer` is a limit to try. */
export function connectionError(end: EarlyEnd, peer: string, hint?: string, longer = '2m'): CallError {
  const { cause, interrupted, timedOut } = end;
  if (interrupted) return new CallError('interrupted', 'interrupted', { cause });
  const message = endMessage(end, peer);
  return timedOut
    ? new CallError('timeout', message, { cause, hint: `raise the limit: --timeout ${longer}` })
    : new CallError('network', message, { cause, hint, transient: isTransientNetworkError(cause) });
}

export function endMessage({ cause, interrupted, timedOut }: EarlyEnd, peer: string): string {
  if (interrupted) return 'interrupted before the answer arrived';
  return timedOut ? `${peer} did not answer in time` : networkMessage(cause, peer);
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
    ? 'check the file and the balance before you run it again: steno file, steno balance'
    : 'check the balance and your account before you order again: steno balance';
}
