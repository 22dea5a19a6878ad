/** A call of the service, which of them cost money, and a response before it is read. */
import type { JsonObject } from '../../lib/json.ts';
import { decoded } from '../../lib/url.ts';
import type { HttpResponse } from './exchange.ts';

/** Gives nothing where there is nothing to wait for. */
export type BeforeSend = () => Promise<void> | undefined;

export interface Call {
  readonly method: string;
  /** Below the base URL, already encoded. */
  readonly path: string;
  /**
   * `read` may be repeated; `once` and `money` are never repeated. A `money` call without a clear answer has an unknown
   * outcome (exit 11).
   */
  readonly safety: 'read' | 'once' | 'money';
  /** Sent in the JSON body of a POST or in the query of a GET; the key is added. */
  readonly params?: JsonObject;
  /** The time limit where the user set none. */
  readonly limitMs?: number;
  /**
   * The answer names an address. It may be plain text: the API document does not say how it is written. A key in it
   * stays, because the address has to be put back as it was.
   */
  readonly isAddress?: boolean;
  /** An answer in which a key stands twice can't be read: either value may be the one that counts. */
  readonly uniqueKeys?: boolean;
  /** For `money`: called when there is a connection, right before the request; if it rejects, nothing is sent. */
  readonly beforeSend?: BeforeSend | undefined;
  /** The response has any length, so that only its silences have a limit. */
  readonly streams?: boolean;
}

export interface CallResponse extends HttpResponse {
  /** What was asked for, without a query. */
  readonly url: string;
  /** Masks secrets in a text that came with the response. */
  readonly hide: (text: string) => string;
  /** Masks the key alone: the password of a shared ledger may be a short number, as an id is. */
  readonly hideKey: (text: string) => string;
}

export interface MoneyTarget {
  readonly call: 'order' | 'upgrade' | 'refund';
  /** The file that is upgraded or refunded; empty for an order. */
  readonly file: string;
}

/** A proxy and the service behind it may each decode once; each reading of a path is compared. */
const MAX_READINGS = 8;

/**
 * Which call for money a path is, however it is spelled. In doubt a call counts as one for money: that only means that it
 * is not retried, and is kept in the ledger.
 */
export function moneyTargetOf(path: string): MoneyTarget | undefined {
  for (const reading of readingsOf(path)) {
    const found = targetIn(reading);
    if (found) return found;
  }
  return undefined;
}

/** Whether a path is about the webhook of the account, however it is spelled. */
export const isWebhookPath = (path: string): boolean =>
  [...readingsOf(path)].some((reading) => /\/webhook\b/i.test(reading));

const OPERATION = /\/(order_url|audiofile|transcript|invoice|prepay_balance|webhook)(\/|$)/i;

/** Whether a base URL contains part of a call, so that the path alone does not show what is called. */
export const isPartOfCall = (baseUrl: string): boolean =>
  [...readingsOf(new URL(baseUrl).pathname)].some((reading) => OPERATION.test(reading));

/** A server may decode a path before it chooses what to do. */
function* readingsOf(path: string): Generator<string> {
  let reading = path;
  for (let count = 0; count < MAX_READINGS; count++) {
    yield reading;
    yield resolved(reading);
    const next = decodeOnce(reading);
    if (next === reading) return;
    reading = next;
  }
  // A path that is encoded this often is meant to be hidden.
  yield '/order_url';
}

function targetIn(path: string): MoneyTarget | undefined {
  const [, file, change, order] =
    /\/audiofile\/((?:[^/]+\/)*[^/]+)\/(upgrade|refund)\b|\/(order_url)\b/i.exec(path) ?? [];
  if (order) return { call: 'order', file: '' };
  if (!change || !file) return undefined;
  return { call: change.toLowerCase() as 'upgrade' | 'refund', file: decoded(file) };
}

/** Byte by byte, so that a bad escape elsewhere in the path hides nothing. */
const decodeOnce = (path: string): string =>
  path.replace(/%(?:u00)?([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );

/** Without parameters of its steps, empty steps and dot segments. */
function resolved(path: string): string {
  const steps: string[] = [];
  for (const step of path.split(/[/\\]/)) {
    const name = step.replace(/;.*/s, '').trim();
    if (name === '..') steps.pop();
    else if (name !== '' && name !== '.') steps.push(name);
  }
  return `/${steps.join('/')}`;
}

/** What a call asks about, by its path; undefined where that is an operation of the service itself. */
export function subjectOf(path: string): string | undefined {
  const [, kind, id = '', rest = ''] = /^\/(audiofile|transcript|invoice)\/([^/]+)(.*)$/.exec(path) ?? [];
  if (kind === undefined) return undefined;
  if (kind === 'invoice') return `invoice ${decoded(id)}`;
  // The deprecated path of a transcript is /transcript/ID.EXT.
  const [, file = id, ext = /transcript\.(\w+)$/.exec(rest)?.[1]] =
    kind === 'transcript' ? (/^(.*)\.(\w+)$/.exec(id) ?? []) : [];
  const subject = `audiofile ${decoded(file)}`;
  return ext === undefined ? subject : `a transcript of ${subject} as ${ext}`;
}
