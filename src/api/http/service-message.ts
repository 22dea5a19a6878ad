import { isObject, type Json, parseJson } from '../../lib/json.ts';
import { oneLine } from '../../lib/text.ts';

/** The line for a person in an answer of any shape: JSON, plain text, HTML or nothing. */
export function messageInText(text: string, hide: (text: string) => string = String): string {
  let found: string | undefined;
  try {
    found = messageInJson(parseJson(text));
  } catch {
    found = /<(!doctype|html|head|body|h1|p|title)\b/i.test(text) ? messageInHtml(text) : text;
  }
  // Masked before it is cut, or the beginning of a key would stay.
  return oneLine(hide(found ?? ''), MAX_LENGTH);
}

const MAX_LENGTH = 200;
const MAX_DEPTH = 4;

const keys = [
  'message',
  'error',
  'error_message',
  'errors',
  'detail',
  'description',
  'reason',
  'title',
  'msg',
];

/** The message under one of the usual keys, also in nested objects. */
export function messageInJson(value: Json | undefined, depth = 0): string | undefined {
  if (typeof value === 'string') return value;
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return messageInJson(value[0], depth + 1);
  if (!isObject(value)) return undefined;
  for (const key of keys) {
    const found = messageInJson(value.get(key), depth + 1);
    if (found) return found;
  }
  return undefined;
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: ' ',
  apos: "'",
};

function messageInHtml(text: string): string {
  const page = text.replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ');
  const part =
    /<h1\b[^>]*>([\s\S]*?)<\/h1>/i.exec(page)?.[1] ??
    /<title\b[^>]*>([\s\S]*?)<\/title>/i.exec(page)?.[1] ??
    page;
  return part
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d{1,7});/g, (_, code: string) => String.fromCodePoint(Math.min(Number(code), 0x10ffff)))
    .replace(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole);
}
