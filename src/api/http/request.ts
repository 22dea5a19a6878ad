/** A call as undici takes it: the key in the JSON body, or in the query of a GET or HEAD. */
import type { Dispatcher } from 'undici';
import { formatJson, type Json, type JsonObject } from '../../lib/json.ts';
import type { Call } from './call.ts';

const MAX_SILENCE_MS = 60_000;

export interface Service {
  readonly origin: string;
  /** The path of the base URL, without a slash at its end. */
  readonly basePath: string;
  readonly apiKey: string;
  readonly userAgent: string;
}

export function makeRequest(call: Call, service: Service): Dispatcher.DispatchOptions {
  const params: JsonObject = new Map<string, Json>([['api_key', service.apiKey], ...(call.params ?? [])]);
  const path = service.basePath + call.path;
  const inQuery = call.method === 'GET' || call.method === 'HEAD';
  return {
    origin: service.origin,
    method: call.method as Dispatcher.HttpMethod,
    path: inQuery ? `${path}?${toQuery(params)}` : path,
    headers: {
      'user-agent': service.userAgent,
      accept: '*/*',
      'accept-encoding': 'identity',
      ...(!inQuery && { 'content-type': 'application/json' }),
    },
    body: inQuery ? null : formatJson(params, 0),
    // Where a call has a deadline, that bounds the time to the headers.
    headersTimeout: call.streams ? MAX_SILENCE_MS : 0,
    bodyTimeout: MAX_SILENCE_MS,
  };
}

function toQuery(params: JsonObject): string {
  const pairs = [...params].flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).map((each): [string, string] => [
      key,
      typeof each === 'string' ? each : formatJson(each, 0),
    ]),
  );
  return new URLSearchParams(pairs).toString();
}
