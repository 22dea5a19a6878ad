import { StenoError } from '../lib/errors.ts';
import { isObject, type Json, type JsonObject } from '../lib/json.ts';
import { requestJson } from './http/answer.ts';
import type { Transport } from './http/transport.ts';
import { checkAnswer } from './refusal.ts';

export interface Webhook {
  /** Empty where none is set. */
  readonly url: string;
  readonly json: Json;
}

/** Throws where the answer is not clear: what was there before has to be given back later, so nothing is guessed. */
export async function getWebhook(transport: Transport): Promise<Webhook> {
  const json = checkAnswer(
    await requestJson(transport, {
      ...{ method: 'GET', path: '/webhook', safety: 'read' },
      ...{ mayBeText: true, refusesRepeatedKeys: true, keepsKey: true },
    }),
  );
  const url = urlIn(json);
  if (url !== undefined) return { url, json };
  throw new StenoError(
    'failed',
    "the service's answer can't be read: it names no webhook, or more than one",
    {
      hint: 'see it with: steno api GET /webhook',
    },
  );
}

export const setWebhook = async (transport: Transport, url: string): Promise<Webhook> =>
  decodeChange(await postForText(transport, '/webhook', new Map([['webhook', url]])));

export const testWebhook = async (transport: Transport, type: string): Promise<Webhook> =>
  decodeChange(await postForText(transport, `/webhook/test/${encodeURIComponent(type)}`));

const postForText = (transport: Transport, path: string, params: JsonObject = new Map()): Promise<Json> =>
  requestJson(transport, { method: 'POST', path, safety: 'once', params, mayBeText: true, keepsKey: true });

/** An answer to a change may be a message alone. */
const decodeChange = (json: Json): Webhook => ({ url: urlIn(checkAnswer(json)) ?? '', json });

/** The API document names no key for the URL; in lower case, without dashes and underscores. */
const likelyKeys = new Set(['webhook', 'webhookurl', 'url', 'callback', 'callbackurl']);
/** Texts for people, and links that are none of the account's. */
const otherKeys = new Set([
  'message',
  'msg',
  'help',
  'doc',
  'docs',
  'documentation',
  'info',
  'link',
  'links',
]);

const MAX_DEPTH = 4;

/**
 * The URL that an answer names; empty where it says that there is none, undefined where it is not clear. What stands
 * under a likely key decides; without one, the only URL in the answer.
 */
function urlIn(json: Json): string | undefined {
  const named = namedValues(json);
  const found = new Set(
    named.length ? named.flatMap((value) => readings(value, true)) : readings(json, false),
  );
  const [first] = found;
  return found.size === 1 ? first : undefined;
}

/** The values under likely keys, at the outermost level that has one. */
function namedValues(json: Json, depth = 0): Json[] {
  if (!isObject(json) || depth > MAX_DEPTH) return [];
  const here = [...json].filter(([key]) => likelyKeys.has(bare(key))).map(([, value]) => value);
  if (here.length) return here.flatMap((value) => orItself(namedValues(value, depth + 1), value));
  return [...json.values()].flatMap((value) => namedValues(value, depth + 1));
}

const orItself = (values: Json[], value: Json): Json[] => (values.length ? values : [value]);

const bare = (key: string): string => key.toLowerCase().replace(/[-_]/g, '');

/** What a value may be read as: URLs, an empty text for none, undefined for anything else. */
function readings(value: Json, isNamed: boolean, depth = 0): Array<string | undefined> {
  if (value === null) return [''];
  if (typeof value === 'string') return [readText(value.trim(), isNamed)];
  if (depth > MAX_DEPTH) return [undefined];
  if (Array.isArray(value))
    return value.length ? value.flatMap((each) => readings(each, isNamed, depth + 1)) : [''];
  if (!isObject(value)) return [undefined];
  const urls = [...value]
    .filter(([key]) => !otherKeys.has(bare(key)))
    .flatMap(([, each]) => readings(each, false, depth + 1).filter(Boolean));
  return urls.length ? urls : [undefined];
}

/** Under a key of its own a host without a scheme is an address too. */
function readText(text: string, isNamed: boolean): string | undefined {
  if (text === '' || /^https?:\/\/\S+$/i.test(text)) return text;
  return isNamed && /^[\w-]+(\.[\w-]+)+(:\d+)?(\/\S*)?$/.test(text) ? text : undefined;
}
