/**
 * Reads answers: their fields, whatever type they come in, and what they say of an error. A number stays text, so that it
 * keeps its digits. Checks ids.
 */

import { StenoError, usage } from '../lib/errors.ts';
import { isObject, type Json, JsonNumber, type JsonObject } from '../lib/json.ts';
import { cutSignatures } from '../lib/signatures.ts';
import { oneLine } from '../lib/text.ts';
import { messageInJson } from './http/message.ts';

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

/**
 * An id of the service may be any text. Refused are ids that a decoding proxy would resolve to another path, and ids that
 * no request can carry.
 */
export function checkId(id: string): string {
  if (id.trim() === '') throw usage(`'${id}' is not an id`, 'list your files: steno files');
  if (/[\u0000-\u001f\u007f-\u009f]/.test(id))
    throw usage(`'${id}' is not an id`, 'it contains a control character');
  if (id.split(/[/\\]/).some((segment) => segment === '.' || segment === '..'))
    throw usage(`'${id}' is not an id`, "it contains a '.' or '..' between slashes");
  if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(id))
    throw usage(`'${id}' is not an id`, 'it contains an incomplete Unicode character');
  return id;
}

/** What a text was most likely meant to be that the service does not know as an id. */
export function idHint(text: string): string | undefined {
  const ids = text.split(/[,\s]+/).filter(Boolean);
  if (ids.length > 1) return `separate ids with spaces: ${ids.join(' ')}`;
  if (/^https?:\/\//i.test(text)) return 'it is a URL, not an id; list your files: steno files';
  return undefined;
}

/** As one segment of a path. */
export const pathSegment = (id: string): string => encodeURIComponent(checkId(id));

// A refusal may come with status 200.

const MAX_DEPTH = 4;

const errorKeys = new Set('error errors error_message errormessage fault faults exception'.split(' '));
const statusKeys = new Set(['status', 'result', 'outcome']);
const successKeys = new Set(['success', 'ok']);
const failedStatuses = new Set('error fail failed failure refused rejected declined'.split(' '));
/** Texts that stand for no error. */
const noneTexts = new Set(['', '0', 'false', 'null', 'none']);

/** Gives the answer back, or throws what it says where it is a refusal. */
export function checkAnswer(json: Json): Json {
  throwRefusal(errorIn(json));
  return json;
}

export function throwRefusal(error: string | undefined): void {
  if (error !== undefined) throw new StenoError('failed', `the service refused: ${error}`, { status: 200 });
}

/** What an answer, or an object one level below it, says of an error; undefined where it says nothing of one. */
export const errorIn = (json: Json): string | undefined =>
  [json, ...valuesIn(json)].map(errorOf).find((error) => error !== undefined);

/** The same for the fields of one object alone. */
export function errorOf(json: Json): string | undefined {
  if (!isObject(json)) return undefined;
  const failed = [...json].filter(([key, value]) => isFailure(key.toLowerCase(), value));
  const [first] = failed;
  if (!first) return undefined;
  const texts = failed.map(([key, value]) => (errorKeys.has(key.toLowerCase()) ? textOf(value) : ''));
  const said = texts.find(Boolean) ?? messageInJson(json) ?? `${first[0]}: ${scalar(first[1])}`;
  return oneLine(cutSignatures(said));
}

function isFailure(key: string, value: Json): boolean {
  if (errorKeys.has(key)) return !isNone(value);
  const text = scalar(value)?.trim().toLowerCase();
  if (text === undefined) return false;
  if (successKeys.has(key)) return text === 'false' || text === '0';
  return statusKeys.has(key) && (failedStatuses.has(text) || /^[45]\d\d$/.test(text));
}

/** Null, false, zero, blank text, and a list or object that holds nothing else. */
function isNone(value: Json, depth = 0): boolean {
  const text = scalar(value);
  if (text === undefined)
    return depth > MAX_DEPTH || valuesIn(value).every((each) => isNone(each, depth + 1));
  return value instanceof JsonNumber ? Number(text) === 0 : noneTexts.has(text.trim().toLowerCase());
}

/** The text of an error: its message, or all that it holds. A bare `true` or a number says nothing to a person. */
function textOf(value: Json, depth = 0): string {
  if (typeof value === 'string') return value.trim();
  if (depth > MAX_DEPTH) return '';
  const inner = (each: Json): string => textOf(each, depth + 1);
  if (Array.isArray(value)) return value.map(inner).filter(Boolean).join('; ');
  if (!isObject(value)) return '';
  const fields = [...value].map(([key, each]) => [key, scalar(each) ?? inner(each)] as const);
  const told = fields.filter(([, text]) => text).map(([key, text]) => `${key}: ${text}`);
  return messageInJson(value) ?? told.join('; ');
}

/** Whether an answer holds neither a text nor a number nor a yes: nothing shows that the call was carried out. */
export function saysNothing(json: Json, depth = 0): boolean {
  if (typeof json === 'string') return isNone(json) || json.trimStart().startsWith('<');
  if (isObject(json))
    return [...json].every(
      ([key, value]) => errorKeys.has(key.toLowerCase()) || saysNothing(value, depth + 1),
    );
  if (Array.isArray(json)) return depth > MAX_DEPTH || json.every((each) => saysNothing(each, depth + 1));
  return isNone(json);
}

function valuesIn(json: Json): Json[] {
  if (isObject(json)) return [...json.values()];
  return Array.isArray(json) ? json : [];
}
