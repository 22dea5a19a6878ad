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
  readonly headers: Headers;
  readonly bodyHeaders: Headers;
  /** The body of a call without parameters. */
  readonly keyAlone: string;
}

type Headers = Readonly<Record<string, string>>;

/** What all calls of a service have in common. */
export function makeService(base: URL, apiKey: string, userAgent: string): Service {
  const headers = { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': 'identity' };
  return {
    origin: base.origin,
    basePath: base.pathname.replace(/\/$/, ''),
    apiKey,
    headers,
    bodyHeaders: { ...headers, 'content-type': 'application/json' },
    keyAlone: formatJson(new Map([['api_key', apiKey]]), 0),
  };
}

export function makeRequest(call: Call, service: Service): Dispatcher.DispatchOptions {
  const path = service.basePath + call.path;
  const inQuery = call.method === 'GET' || call.method === 'HEAD';
  return {
    origin: service.origin,
    method: call.method as Dispatcher.HttpMethod,
    path: inQuery ? `${path}?${toQuery(paramsOf(call, service))}` : path,
    headers: inQuery ? service.headers : service.bodyHeaders,
    body: inQuery ? null : bodyOf(call, service),
    // Where a call has a deadline, that bounds the time to the headers.
    headersTimeout: call.streams ? MAX_SILENCE_MS : 0,
    bodyTimeout: MAX_SILENCE_MS,
  };
}

const paramsOf = (call: Call, { apiKey }: Service): JsonObject =>
  new Map<string, Json>([['api_key', apiKey], ...(call.params ?? [])]);

const bodyOf = (call: Call, service: Service): string =>
  call.params?.size ? formatJson(paramsOf(call, service), 0) : service.keyAlone;

function toQuery(params: JsonObject): string {
  const pairs = [...params].flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).map((each): [string, string] => [
      key,
      typeof each === 'string' ? each : formatJson(each, 0),
    ]),
  );
  return new URLSearchParams(pairs).toString();
}
