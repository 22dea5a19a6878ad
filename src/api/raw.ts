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

/** Any call below the base URL; the key is added. */
export const rawCall = (method: string, path: string, params: JsonObject): Call => ({
  ...{ method, path, params },
  safety: safetyOf(method, path),
});

export const sendRaw = (transport: Transport, call: Call): Promise<RawAnswer> =>
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
