import { isObject, type Json, parseJson } from '../../lib/json.ts';
import { cutSignatures } from '../../lib/signatures.ts';
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
  return oneLine(hide(cutSignatures(found ?? '')), MAX_LENGTH);
}

const MAX_LENGTH = 200;
const MAX_DEPTH = 4;

const keys = [
  ...['message', 'error', 'error_message', 'errors'],
  ...['detail', 'description', 'reason', 'title', 'msg'],
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

const entities = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', apos: "'" }));

/** No step searches for the same end again and again: an answer may have megabytes. */
function messageInHtml(text: string): string {
  // Scripts and styles are no text.
  const page = text.replace(/<(script|style)\b[\s\S]*?(?:<\/\1>|$)/gi, ' ');
  return withoutTags(contentOf(page, 'h1') ?? contentOf(page, 'title') ?? page)
    .replace(/&#(\d{1,7});/g, (_, code: string) => String.fromCodePoint(Math.min(Number(code), 0x10ffff)))
    .replace(/&(\w+);/g, (whole, name: string) => entities.get(name) ?? whole);
}

/** What the first element of this name holds. */
function contentOf(page: string, tag: string): string | undefined {
  const opening = page.search(new RegExp(`<${tag}\\b`, 'i'));
  const start = opening < 0 ? -1 : page.indexOf('>', opening) + 1;
  if (start <= 0) return undefined;
  const content = page.slice(start);
  const end = content.search(new RegExp(`</${tag}>`, 'i'));
  return end < 0 ? undefined : content.slice(0, end);
}

function withoutTags(text: string): string {
  // After the last > there is no whole tag.
  const end = text.lastIndexOf('>') + 1;
  return text.slice(0, end).replace(/<[^>]*>/g, ' ') + text.slice(end);
}
