import { isObject, type Json, type JsonObject } from '../lib/json.ts';
import { requestJson } from './http/request-json.ts';
import type { Transport } from './http/transport.ts';
import { checkAnswer } from './refusal.ts';

export interface Webhook {
  /** Empty where none is set. */
  readonly url: string;
  readonly json: Json;
}

export const getWebhook = async (transport: Transport): Promise<Webhook> =>
  decodeWebhook(
    await requestJson(transport, { method: 'GET', path: '/webhook', safety: 'read', mayBeText: true }),
  );

export const setWebhook = async (transport: Transport, url: string): Promise<Webhook> =>
  decodeWebhook(await postForText(transport, '/webhook', new Map([['webhook', url]])));

export const testWebhook = async (transport: Transport, type: string): Promise<Webhook> =>
  decodeWebhook(await postForText(transport, `/webhook/test/${encodeURIComponent(type)}`));

const postForText = (transport: Transport, path: string, params: JsonObject = new Map()): Promise<Json> =>
  requestJson(transport, { method: 'POST', path, safety: 'once', params, mayBeText: true });

const decodeWebhook = (json: Json): Webhook => ({ url: urlIn(checkAnswer(json)), json });

const likelyKeys = ['webhook', 'webhook_url', 'webhookurl', 'url', 'callback', 'callback_url'];

/**
 * The API document names no key for the URL. The value of a likely key is taken, even if it is empty; without one, any
 * URL in the answer.
 */
function urlIn(json: Json): string {
  const likely = isObject(json) ? likelyKeys.filter((key) => json.has(key)) : [];
  if (!isObject(json) || likely.length === 0) return findUrl(json) ?? '';
  const values = likely.map((key) => json.get(key));
  const texts = values.filter((value) => typeof value === 'string');
  return values.map((value) => findUrl(value)).find(Boolean) ?? texts.find((text) => text.trim()) ?? '';
}

const MAX_DEPTH = 4;

function findUrl(value: Json | undefined, depth = 0): string | undefined {
  if (typeof value === 'string') return /^https?:\/\/\S+$/i.test(value.trim()) ? value.trim() : undefined;
  if (depth > MAX_DEPTH) return undefined;
  for (const each of valuesIn(value)) {
    const found = findUrl(each, depth + 1);
    if (found) return found;
  }
  return undefined;
}

function valuesIn(value: Json | undefined): Iterable<Json> {
  if (isObject(value)) return value.values();
  return Array.isArray(value) ? value : [];
}
