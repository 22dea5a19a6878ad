import type { Json, JsonObject } from '../json.ts';
import { parseJson } from '../json.ts';
import { readText } from './body.ts';
import type { Safety, Transport } from './transport.ts';

export interface RawAnswer {
  readonly text: string;
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
    const text = await readText(response, LARGEST);
    try {
      return { text, json: parseJson(text) };
    } catch {
      return { text, json: undefined };
    }
  });
}

function safetyOf(method: string, path: string): Safety {
  if (/^\/order_url\b|^\/audiofile\/[^/]+\/(upgrade|refund)\b/.test(path)) return 'money';
  return method === 'GET' || method === 'HEAD' ? 'read' : 'once';
}
