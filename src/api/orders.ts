import { append, isObject, type Json, type JsonObject } from '../lib/json.ts';
import { oneLine } from '../lib/text.ts';
import { field, ids, scalar } from './decode.ts';
import type { Call } from './http/call.ts';
import { requestJson, unreadableAnswer } from './http/request-json.ts';
import { messageInJson } from './http/service-message.ts';
import type { Transport } from './http/transport.ts';

export interface OrderRequest {
  readonly urls: readonly string[];
  readonly skus: readonly string[];
  readonly names: readonly string[];
  readonly notes?: string | undefined;
  readonly test: boolean;
  /** What the document does not list, sent as it is. */
  readonly extra: ReadonlyArray<readonly [string, string]>;
}

export interface Order {
  readonly id: string;
  readonly audiofiles: readonly string[];
  readonly message: string;
  /** Why it is held; absent on an order that is under way. */
  readonly hold: string | undefined;
  readonly json: Json;
}

/** The service fetches every URL during the call. */
const BASE_LIMIT = 60_000;
const LIMIT_PER_URL = 30_000;

export async function placeOrder(transport: Transport, request: OrderRequest): Promise<Order> {
  const limit = BASE_LIMIT + LIMIT_PER_URL * request.urls.length;
  const call: Call = {
    method: 'POST',
    path: '/order_url',
    safety: 'money',
    params: orderParams(request),
    limit,
  };
  const json = await requestJson(transport, call);
  const order = isObject(json) ? decodeOrder(json) : undefined;
  const said = oneLine(messageInJson(json) ?? '', 200);
  if (!order)
    throw unreadableAnswer(
      call,
      `it names neither an order nor an audiofile${said ? `, but says: ${said}` : ''}`,
    );
  return order;
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

function decodeOrder(json: JsonObject): Order | undefined {
  const id = field(json, 'order');
  const audiofiles = ids(json.get('audiofiles'));
  if (!id && audiofiles.length === 0) return undefined;
  return { id, audiofiles, message: field(json, 'message'), hold: holdOf(json), json };
}

/** A hold that nobody has heard of is still a hold. */
function holdOf(json: JsonObject): string | undefined {
  const hold = json.get('hold');
  if (hold === undefined || hold === null || hold === false) return undefined;
  return scalar(hold) || 'unknown';
}
