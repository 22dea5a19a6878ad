/** Reads the answers of the service: JSON without losing digits, or the raw bytes. */
import { StenoError } from '../../lib/errors.ts';
import { type Json, type JsonObject, parseJson } from '../../lib/json.ts';
import { maskJson } from '../../lib/mask.ts';
import { oneLine } from '../../lib/text.ts';
import { type Call, type CallResponse, moneyTargetOf } from './call.ts';
import { readBytes, unknownEncoding } from './exchange.ts';
import { baseUrlHint, outcomeUnknownError } from './failures.ts';
import { messageInText } from './message.ts';
import type { Transport } from './transport.ts';

const MAX_JSON_BYTES = 16 * 1024 * 1024;
const MAX_RAW_BYTES = 64 * 1024 * 1024;

/** Sends a call whose answer is JSON. A key in it is masked here, before its ids and titles are kept or name a file. */
export const requestJson = (transport: Transport, call: Call): Promise<Json> =>
  transport.send(call, (response) => readJson(call, response));

async function readJson(call: Call, response: CallResponse): Promise<Json> {
  const { status, hide, hideKey } = response;
  const text = (await readWhole(call, response, MAX_JSON_BYTES)).toString('utf8');
  const refuseKey = (key: string): never => {
    throw unreadableAnswer(call, `'${oneLine(hide(key), 60)}' occurs in it more than once`, status);
  };
  try {
    const json = parseJson(text, call.uniqueKeys ? refuseKey : undefined);
    // Without an escape each text of the answer stands in it as it is, so that one search is enough.
    const mayHoldKey = !call.isAddress && (text.includes('\\') || hideKey(text) !== text);
    return mayHoldKey ? maskJson(json, hideKey) : json;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const encoding = unknownEncoding(response);
    if (encoding) throw unreadableAnswer(call, `its encoding is unknown: ${encoding}`, status);
    if (call.isAddress && isPlainText(text)) return text.trim();
    throw notJson(call, response, text);
  }
}

/** Not empty, and neither a page nor JSON that was cut off. */
const isPlainText = (text: string): boolean => /^\ufeff?\s*[^\s[{"<]/.test(text);

export interface RawAnswer {
  readonly bytes: Buffer;
  /** Undefined where the answer is not JSON. */
  readonly json: Json | undefined;
}

/** Any call below the base URL; the key is added. */
export function rawCall(method: string, path: string, params: JsonObject): Call {
  const otherwise = method === 'GET' || method === 'HEAD' ? 'read' : 'once';
  return { method, path, params, safety: moneyTargetOf(path) ? 'money' : otherwise };
}

export const sendRaw = (transport: Transport, call: Call): Promise<RawAnswer> =>
  transport.send(call, async (response) => {
    const bytes = await readWhole(call, response, MAX_RAW_BYTES);
    const text = bytes.toString('utf8');
    try {
      return { bytes, json: parseJson(text) };
    } catch {
      // Only JSON can say that an order, an upgrade or a refund went through.
      if (call.safety === 'money') throw notJson(call, response, text);
      return { bytes, json: undefined };
    }
  });

/** The body of a success, if it can be read. */
const readWhole = (call: Call, response: CallResponse, maxBytes: number): Promise<Buffer> =>
  readBytes(response, maxBytes).catch((error: unknown) => {
    throw error instanceof StenoError ? unreadableAnswer(call, error.message, response.status) : error;
  });

/** An answer that should be JSON. A web page comes where the address is not that of the service. */
function notJson(call: Call, { status, hide, url }: CallResponse, text: string): StenoError {
  const said = messageInText(text, hide);
  if (!/^\ufeff?\s*<(!doctype|html|\?xml|head|body|h1)/i.test(text))
    return unreadableAnswer(call, said || (text && 'it is not JSON'), status);
  const why = `it is a web page${said ? ` (${said})` : ''}`;
  return unreadableAnswer(call, why, status, baseUrlHint(url.slice(0, url.length - call.path.length)));
}

/** A success that can't be read; whether a money call was carried out is then unknown. */
export function unreadableAnswer(call: Call, why: string, status?: number, hint?: string): StenoError {
  const message = `the service's answer can't be read${why ? `: ${why}` : ' (it is empty)'}`;
  return call.safety === 'money'
    ? outcomeUnknownError(call, message, { status })
    : new StenoError('failed', message, { status, hint });
}
