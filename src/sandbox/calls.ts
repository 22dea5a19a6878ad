/** A call of the service as the sandbox reads it, its answer and its refusal. */

import type { IncomingMessage } from 'node:http';
import {
  formatJson,
  isObject,
  type Json,
  JsonNumber,
  type JsonObject,
  parseJson,
  toJson,
} from '../lib/json.ts';

/** The service refuses a call with this status and message. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The parameters of a call, from the query, a form or a JSON body; each may have several values. */
export class Params {
  readonly #values = new Map<string, string[]>();

  add(name: string, value: string): void {
    const values = this.#values.get(name);
    if (values) values.push(value);
    else this.#values.set(name, [value]);
  }

  addPairs(text: string): void {
    for (const [name, value] of new URLSearchParams(text)) this.add(name, value);
  }

  first(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  /** All values of a parameter and its synonyms that are not blank. */
  all(...names: string[]): string[] {
    return names.flatMap((name) => this.#values.get(name) ?? []).filter((value) => value.trim() !== '');
  }

  required(name: string): string[] {
    const values = this.all(name);
    if (values.length === 0) throw new Refusal(400, `The parameter ${name} is missing.`);
    return values;
  }

  /** Set by its presence, unless its value is 0, false, no or off. */
  flag(name: string): boolean {
    const value = this.first(name);
    return value !== undefined && !/^(0|false|no|off)$/i.test(value.trim());
  }
}

export function readParams(query: string, contentType: string | undefined, body: Buffer): Params {
  const params = new Params();
  params.addPairs(query);
  if (body.length === 0) return params;
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') addJson(params, decode(body));
  else if (type === 'application/x-www-form-urlencoded') params.addPairs(decode(body));
  else throw new Refusal(415, 'The body must be application/json or application/x-www-form-urlencoded.');
  return params;
}

function addJson(params: Params, text: string): void {
  const value = parse(text);
  if (!isObject(value)) throw new Refusal(400, 'The JSON body must be an object.');
  for (const [name, each] of value) {
    for (const one of Array.isArray(each) ? each : [each]) addScalar(params, name, one);
  }
}

function addScalar(params: Params, name: string, value: Json): void {
  if (value === null) return;
  if (typeof value === 'object' && !(value instanceof JsonNumber)) {
    throw new Refusal(400, `The parameter ${name} must be a string or an array of strings.`);
  }
  params.add(name, value instanceof JsonNumber ? value.text : String(value));
}

function parse(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    throw new Refusal(400, 'The body is not valid JSON.');
  }
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new Refusal(400, 'The body is not valid UTF-8.');
  }
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export const jsonAnswer = (value: JsonObject, status = 200): Answer => ({
  status,
  type: 'application/json',
  body: Buffer.from(formatJson(value, 0)),
});

export const messageAnswer = (message: string, status = 200): Answer =>
  jsonAnswer(toJson({ message }) as JsonObject, status);

const MAX_BODY_BYTES = 1_000_000;
/** Read and dropped, because many clients read a 413 only after they have sent their whole body. */
const MAX_DRAINED_BYTES = 32_000_000;

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
    if (length > MAX_DRAINED_BYTES) break;
  }
  if (length > MAX_BODY_BYTES) throw new Refusal(413, `The body is larger than ${MAX_BODY_BYTES} bytes.`);
  return Buffer.concat(chunks);
}
