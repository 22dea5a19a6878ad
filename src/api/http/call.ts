/** A call of the service, and its answer before it is read. */
import type { JsonObject } from '../../lib/json.ts';
import type { HttpResponse } from './exchange.ts';

/** `read` may be repeated; `once` and `money` never are, and after `money` an unclear end is said to be one. */
export type Safety = 'read' | 'once' | 'money';

export interface Call {
  readonly method: string;
  /** Below the base URL, already encoded. */
  readonly path: string;
  readonly safety: Safety;
  /** In the JSON body of a POST, in the query of a GET; the key is added. */
  readonly params?: JsonObject;
  /** How long it may take in milliseconds where the user set no limit. */
  readonly limit?: number;
  /** The document does not say how the answer is written: plain text will do. */
  readonly mayBeText?: boolean;
  /** The answer is a stream of any length: only silence is bounded. */
  readonly streams?: boolean;
}

export interface CallResponse extends HttpResponse {
  /** Takes the key out of a text that came with the answer. */
  readonly hide: (text: string) => string;
}
