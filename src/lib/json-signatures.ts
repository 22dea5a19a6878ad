import { cutSignatures } from './audio-identity.ts';
import { isObject, type Json } from './json.ts';

/** A document with the signatures cut out of every text in it. */
export function cutJsonSignatures(json: Json): Json {
  if (typeof json === 'string') return cutSignatures(json);
  if (Array.isArray(json)) return json.map(cutJsonSignatures);
  if (isObject(json)) return new Map([...json].map(([key, value]) => [key, cutJsonSignatures(value)]));
  return json;
}
