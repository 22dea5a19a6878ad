import { isObject, type Json } from '../lib/json.ts';
import { requestJson } from './http/request-json.ts';
import type { Transport } from './http/transport.ts';

export interface Webhook {
  /** Empty where none is set. */
  readonly url: string;
  readonly json: Json;
}

export const getWebhook = async (transport: Transport): Promise<Webhook> =>
  decodeWebhook(
    await requestJson(transport, { method: 'GET', path: '/webhook', safety: 'read', mayBeText: true }),
  );

export const setWebhook = async (transport: Transport, url: string): Promise<Webhook> => {
  const params = new Map<string, Json>([['webhook', url]]);
  return decodeWebhook(
    await requestJson(transport, {
      method: 'POST',
      path: '/webhook',
      safety: 'once',
      params,
      mayBeText: true,
    }),
  );
};

export const testWebhook = async (transport: Transport, type: string): Promise<Webhook> => {
  const path = `/webhook/test/${encodeURIComponent(type)}`;
  return decodeWebhook(
    await requestJson(transport, { method: 'POST', path, safety: 'once', mayBeText: true }),
  );
};

const decodeWebhook = (json: Json): Webhook => ({ url: urlIn(json), json });

const likelyKeys = ['webhook', 'webhook_url', 'webhookurl', 'url', 'callback', 'callback_url'];

/** The document names no key for the URL. What stands under a likely one counts, be it empty; else any URL does. */
function urlIn(json: Json): string {
  const likely = isObject(json) ? likelyKeys.filter((key) => json.has(key)) : [];
  if (!isObject(json) || likely.length === 0) return findUrl(json) ?? '';
  const values = likely.map((key) => json.get(key));
  const texts = values.filter((value) => typeof value === 'string');
  return values.map((value) => findUrl(value)).find(Boolean) ?? texts.find((text) => text.trim()) ?? '';
}

function findUrl(value: Json | undefined, depth = 0): string | undefined {
  if (typeof value === 'string') return /^https?:\/\/\S+$/i.test(value.trim()) ? value.trim() : undefined;
  if (depth > 4 || value === undefined) return undefined;
  const inside = isObject(value) ? [...value.values()] : Array.isArray(value) ? value : [];
  for (const each of inside) {
    const found = findUrl(each, depth + 1);
    if (found) return found;
  }
  return undefined;
}
