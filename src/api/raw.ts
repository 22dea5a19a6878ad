import type { Json, JsonObject } from '../lib/json.ts';
import { parseJson } from '../lib/json.ts';
import { readBytes } from './http/body.ts';
import type { Safety } from './http/call.ts';
import type { Transport } from './http/transport.ts';

export interface RawAnswer {
  readonly bytes: Buffer;
  /** Absent where the answer is not JSON. */
  readonly json: Json | undefined;
}

const LARGEST = 64 * 1024 * 1024;

/** Sends any call below the base URL, with the key added. */
export function sendRaw(
  transport: Transport,
  method: string,
  path: string,
  params: JsonObject,
): Promise<RawAnswer> {
  return transport.send({ method, path, params, safety: safetyOf(method, path) }, async (response) => {
    const bytes = await readBytes(response, LARGEST);
    try {
      return { bytes, json: parseJson(bytes.toString('utf8')) };
    } catch {
      return { bytes, json: undefined };
    }
  });
}

function safetyOf(method: string, path: string): Safety {
  if (/^\/order_url\b|^\/audiofile\/[^/]+\/(upgrade|refund)\b/i.test(path)) return 'money';
  return method === 'GET' || method === 'HEAD' ? 'read' : 'once';
}
