/** A call of the service, and its response before it is read. */
import type { JsonObject } from '../../lib/json.ts';
import type { HttpResponse } from './exchange.ts';

/**
 * `read` may be repeated; `once` and `money` are never repeated. A `money` call without a clear answer has an unknown
 * outcome (exit 11).
 */
export type Safety = 'read' | 'once' | 'money';

/** Gives nothing where there is nothing to wait for. */
export type BeforeSend = () => Promise<void> | undefined;

export interface Call {
  readonly method: string;
  /** Below the base URL, already encoded. */
  readonly path: string;
  readonly safety: Safety;
  /** Sent in the JSON body of a POST or in the query of a GET; the key is added. */
  readonly params?: JsonObject;
  /** The time limit where the user set none. */
  readonly limitMs?: number;
  /** Plain text is accepted too: the API document does not say how this answer is written. */
  readonly mayBeText?: boolean;
  /** An answer in which a key stands twice can't be read: either value may be the one that counts. */
  readonly refusesRepeatedKeys?: boolean;
  /** A key in the answer stays: it is part of an address that has to be put back as it was. */
  readonly keepsKey?: boolean;
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
  /** Fires when the time of the call is over, and when the user interrupts. */
  readonly signal: AbortSignal;
}
