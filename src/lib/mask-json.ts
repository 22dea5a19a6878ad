/** Takes a secret out of the texts, numbers and names of a JSON value. */
import { type Json, JsonNumber } from './json.ts';

export function maskJson(value: Json, hide: (text: string) => string): Json {
  if (typeof value === 'string') return hide(value);
  if (value instanceof JsonNumber) {
    const shown = hide(value.text);
    return shown === value.text ? value : shown;
  }
  if (Array.isArray(value)) return value.map((each) => maskJson(each, hide));
  if (!(value instanceof Map)) return value;
  return new Map([...value].map(([name, each]) => [hide(name), maskJson(each, hide)]));
}
