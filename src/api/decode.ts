/** Reads fields of an answer, whatever type they come in. A number stays text, so that it keeps its digits. */
import { isObject, type Json, JsonNumber, type JsonObject } from '../lib/json.ts';

export function scalar(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (value instanceof JsonNumber) return value.text;
  return typeof value === 'boolean' ? String(value) : undefined;
}

export const field = (object: JsonObject, key: string): string => scalar(object.get(key)) ?? '';

/** The same for an id, which is never true or false. */
export const idField = (object: JsonObject, key: string): string =>
  typeof object.get(key) === 'boolean' ? '' : field(object, key);

/** Ids in an array, in a text separated by commas, or in objects that have an id. */
export function ids(value: Json | undefined): string[] {
  if (typeof value !== 'string') return wholeIds(value);
  return value
    .split(',')
    .map((id) => id.trim())
    .filter(Boolean);
}

/** The same where each text is one id, whatever characters it has. */
export function wholeIds(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(wholeIds);
  if (isObject(value)) return wholeIds(value.get('id'));
  const id = typeof value === 'boolean' ? undefined : scalar(value);
  return id ? [id] : [];
}

/** The object under `key`, or the answer itself where it is not wrapped. */
export function unwrap(answer: Json, key: string): JsonObject | undefined {
  if (!isObject(answer)) return undefined;
  const inner = answer.get(key);
  return isObject(inner) ? inner : answer;
}
