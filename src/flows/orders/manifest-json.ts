/** A manifest in JSON lines: one object a line. */
import { scalar } from '../../api/decode.ts';
import { usage } from '../../lib/errors.ts';
import { isObject, type Json, type JsonObject, parseJson } from '../../lib/json.ts';
import {
  type Cells,
  fieldName,
  type ManifestReading,
  splitNames,
  splitSkus,
  splitTags,
} from './manifest-row.ts';

const ONE_A_LINE = 'a manifest of JSON has one object a line';

export function fromJson(line: string, reading: ManifestReading): Cells {
  const found = fieldsOf(parseObject(line), reading);
  const text = (key: string): string | undefined => textOf(key, found.get(key));
  const list = (key: string, split: (text: string | undefined) => string[]): string[] => {
    const value = found.get(key);
    return Array.isArray(value) ? value.map((each) => textOf(key, each) ?? '') : split(textOf(key, value));
  };
  return {
    url: text('url') ?? '',
    skus: list('sku', splitSkus),
    notes: text('notes'),
    names: list('names', splitNames),
    key: text('key'),
    minutes: text('minutes'),
    path: text('path'),
    tags: list('tags', splitTags),
  };
}

function parseObject(line: string): JsonObject {
  if (line.startsWith('['))
    throw usage('not a JSON object', `${ONE_A_LINE}, not an array: jq -c '.[]' makes lines of one`);
  let json: Json;
  const repeated: string[] = [];
  try {
    json = parseJson(line, (key) => repeated.push(key));
  } catch {
    throw usage('not a JSON object', `${ONE_A_LINE}: jq -c . makes lines of any JSON`);
  }
  if (!isObject(json)) throw usage('not a JSON object', ONE_A_LINE);
  if (repeated.length) throw occursTwice(repeated[0] ?? '');
  return json;
}

/** Names in any case: `URL` beside `url` would hide one of the two. */
function fieldsOf(object: JsonObject, reading: ManifestReading): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const [key, value] of object) {
    const name = fieldName(key, reading);
    if (name === '') continue;
    if (found.has(name)) throw occursTwice(name);
    found.set(name, value);
  }
  return found;
}

const occursTwice = (key: string): Error =>
  usage(`'${key}' occurs twice`, 'give each audio a line of its own');

function textOf(key: string, value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = scalar(value);
  if (text === undefined) throw usage(`${key} is not a text`);
  return text;
}
