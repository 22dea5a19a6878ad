import { type Json, type JsonObject, parseJson } from '../lib/json.ts';
import type { Call, Safety } from './http/call.ts';
import { moneyCallOf } from './http/money-path.ts';
import { notJson, readWhole } from './http/request-json.ts';
import type { Transport } from './http/transport.ts';

export interface RawAnswer {
  readonly bytes: Buffer;
  /** Undefined where the answer is not JSON. */
  readonly json: Json | undefined;
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Sends any call below the base URL, with the key added. */
export const sendRaw = (
  transport: Transport,
  method: string,
  path: string,
  params: JsonObject,
): Promise<RawAnswer> => sendCall(transport, { method, path, params, safety: safetyOf(method, path) });

const sendCall = (transport: Transport, call: Call): Promise<RawAnswer> =>
  transport.send(call, async (response) => {
    const bytes = await readWhole(call, response, MAX_ANSWER_BYTES);
    const json = jsonIn(bytes);
    // Only JSON can say that an order, an upgrade or a refund went through.
    if (json === undefined && call.safety === 'money') throw notJson(call, response, bytes.toString('utf8'));
    return { bytes, json };
  });

function jsonIn(bytes: Buffer): Json | undefined {
  try {
    return parseJson(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

function safetyOf(method: string, path: string): Safety {
  if (moneyCallOf(path)) return 'money';
  return method === 'GET' || method === 'HEAD' ? 'read' : 'once';
}
