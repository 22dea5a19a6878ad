import { ORDER_LIMIT_MS } from '../lib/defaults.ts';
import { append, isObject, type Json, type JsonObject } from '../lib/json.ts';
import { cutValues, signatureValues } from '../lib/signatures.ts';
import { oneLine } from '../lib/text.ts';
import { errorIn, field, ids, scalar, wholeIds } from './decode.ts';
import { requestJson, unreadableAnswer } from './http/answer.ts';
import type { BeforeSend, Call } from './http/call.ts';
import { messageInJson } from './http/message.ts';
import type { Transport } from './http/transport.ts';

export interface OrderRequest {
  readonly urls: readonly string[];
  readonly skus: readonly string[];
  readonly names: readonly string[];
  readonly notes?: string | undefined;
  readonly test: boolean;
  /** Parameters that the API document does not list, sent as they are. */
  readonly extra: ReadonlyArray<readonly [string, string]>;
}

export interface Order {
  /** Empty where the answer names none, or several. */
  readonly id: string;
  readonly audiofiles: readonly string[];
  readonly message: string;
  /** Why the order is on hold; undefined if it is not. */
  readonly hold: string | undefined;
  /** An error that the answer names beside the order. */
  readonly error?: string | undefined;
  readonly json: Json;
}

export const placeOrder = (
  transport: Transport,
  request: OrderRequest,
  beforeSend?: BeforeSend,
): Promise<Order> =>
  cuttingSignatures(request.urls, async () => {
    const limitMs = ORDER_LIMIT_MS.base + ORDER_LIMIT_MS.perUrl * request.urls.length;
    const params = orderParams(request);
    const call: Call = { method: 'POST', path: '/order_url', safety: 'money', params, limitMs, beforeSend };
    return readOrder(call, await requestJson(transport, call));
  });

/** The service may repeat a link in any form, and what it says is kept and shown. */
export async function cuttingSignatures<T>(urls: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error) error.message = cutValues(error.message, urls.flatMap(signatureValues));
    throw error;
  }
}

/** What the answer to an order says; throws where it names nothing that was ordered. */
export function readOrder(call: Call, json: Json): Order {
  const order = decodeOrder(json);
  if (order) return order;
  const message = oneLine(messageInJson(json) ?? '');
  throw unreadableAnswer(
    call,
    `it contains neither an order nor an audiofile${message ? `, but says: ${message}` : ''}`,
  );
}

export function orderParams(request: OrderRequest): JsonObject {
  const params: JsonObject = new Map<string, Json>([
    ['url', [...request.urls]],
    ['sku', [...request.skus]],
  ]);
  if (request.notes) params.set('notes', request.notes);
  if (request.names.length) params.set('name', [...request.names]);
  if (request.test) params.set('test', true);
  for (const [key, value] of request.extra) append(params, key, value);
  return params;
}

/** The id may stand in an object or a list, and the rest of the order beside it. */
function decodeOrder(json: Json): Order | undefined {
  const answer = onlyElement(json);
  if (!isObject(answer)) return undefined;
  const nested = onlyElement(answer.get('order'));
  const parts = isObject(nested) ? [answer, nested] : [answer];
  const named = new Set(wholeIds(answer.get('order')));
  const id = named.size === 1 ? ([...named][0] as string) : '';
  const audiofiles = parts.map((part) => ids(part.get('audiofiles'))).find((found) => found.length) ?? [];
  if (named.size === 0 && audiofiles.length === 0) return undefined;
  const message = parts.map((part) => field(part, 'message')).find(Boolean) ?? '';
  const hold = parts.map(decodeHold).find((found) => found !== undefined);
  return { id, audiofiles, message, hold, error: errorIn(answer), json };
}

const onlyElement = (json: Json | undefined): Json | undefined =>
  Array.isArray(json) && json.length === 1 ? json[0] : json;

/** A normal order has no such key: with any value, null and false too, the order is on hold. */
function decodeHold(json: JsonObject): string | undefined {
  const hold = json.get('hold');
  if (hold === undefined) return undefined;
  return (hold !== false && scalar(hold)) || 'unknown';
}
