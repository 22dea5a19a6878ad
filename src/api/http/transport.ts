/** Sends calls to the service: with the key, within their time limits, and repeated where that is safe. */

import { READ_LIMIT_MS } from '../../lib/defaults.ts';
import type { Env } from '../../lib/env.ts';
import { errorMessage } from '../../lib/errors.ts';
import { formatJson, type Json, type JsonObject } from '../../lib/json.ts';
import { hiderOf } from '../../lib/mask.ts';
import { cutSignatures } from '../../lib/signatures.ts';
import { monotonicMs } from '../../lib/time.ts';
import { type Call, type CallResponse, moneyTargetOf } from './call.ts';
import { type EarlyEnd, exchange, type HttpRequest, type HttpResponse, NO_LIMIT_MS } from './exchange.ts';
import { type CallError, connectionError, endMessage, outcomeUnknownError, statusError } from './failures.ts';
import { networkHint } from './network-errors.ts';
import { type ConnectionPool, openPool, withPool } from './pool.ts';
import { Retries, type RetryOptions } from './retry.ts';

export type Trace = (line: string) => void;

interface TransportOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Where the key came from, for errors. */
  readonly keySource?: string | undefined;
  /** The user's limit for a call, its repeats included. */
  readonly timeoutMs?: number | undefined;
  /** No call goes on beyond this moment of the monotonic clock. */
  readonly endsAtMs?: number | undefined;
  /** The most that are open at a time. */
  readonly connections?: number | undefined;
  readonly userAgent: string;
  readonly env: Env;
  readonly signal: AbortSignal;
  /** The user's second interruption, which ends a call for money that was sent; without it, the first does. */
  readonly hardSignal?: AbortSignal | undefined;
  /** The user interrupted, but the answer to a call for money is waited for: is given what to say. */
  readonly onFinishing?: (text: string) => void;
  /** Masks secrets in what the service says. */
  readonly hide: (text: string) => string;
  /** Shows a line; only with --debug. */
  readonly trace?: Trace | undefined;
}

type Read<T> = (response: CallResponse) => Promise<T>;
type Until = Pick<RetryOptions, 'endsAt' | 'signal'>;

const MAX_SERVICE_SILENCE_MS = 60_000;

export class Transport {
  /** Masks secrets in what the service says. */
  readonly hide: (text: string) => string;
  /** Fires when the user interrupts. */
  readonly signal: AbortSignal;
  readonly #options: TransportOptions;
  readonly #base: URL;
  /** Without a slash at its end. */
  readonly #baseUrl: string;
  readonly #sharedPool: ConnectionPool;
  readonly #retries = new Retries();
  /** Why a read was sent again, the last time that one was. */
  lastRetried: CallError | undefined;
  readonly #hideKey: (text: string) => string;

  private constructor(options: TransportOptions, base: URL, sharedPool: ConnectionPool) {
    this.hide = options.hide;
    this.signal = options.signal;
    this.#options = options;
    this.#base = base;
    this.#baseUrl = base.origin + base.pathname.replace(/\/+$/, '');
    this.#sharedPool = sharedPool;
    this.#hideKey = hiderOf(options.apiKey);
  }

  /** Loads what calls need. */
  static async open(options: TransportOptions): Promise<Transport> {
    const base = new URL(options.baseUrl);
    const { connections, env } = options;
    return new Transport(options, base, await openPool(base, env, { connections }));
  }

  /** Sends a call and hands its response to `read`; if the call is a read, a failure of either may be repeated. */
  send<T>(call: Call, read: Read<T>): Promise<T> {
    const { signal, timeoutMs = Number.POSITIVE_INFINITY, trace } = this.#options;
    const { endsAtMs = Number.POSITIVE_INFINITY } = this.#options;
    const endsAt = Math.min(endsAtMs, monotonicMs() + timeoutMs);
    if (call.safety === 'money') return this.#sendForMoney(call, endsAt, read);
    const sendOnce = (): Promise<T> => this.#sendOnce(call, this.#sharedPool, { endsAt, signal }, read);
    if (call.safety === 'once') return sendOnce();
    const onRetry = (error: CallError, pauseMs: number): void => {
      this.lastRetried = error;
      trace?.(`${errorMessage(error)}; trying again in ${pauseMs} ms`);
    };
    return this.#retries.send(sendOnce, { endsAt, signal, onRetry });
  }

  /** Closes every connection, so that the process can end. */
  async close(): Promise<void> {
    await this.#sharedPool.close();
  }

  /** Never repeated. The first interruption does not break off what may have been read: its answer is waited for. */
  #sendForMoney<T>(call: Call, endsAt: number, read: Read<T>): Promise<T> {
    const { env, signal, hardSignal = signal, onFinishing } = this.#options;
    const { beforeSend, path } = call;
    const interrupt = new AbortController();
    const onHard = (): void => interrupt.abort();
    // An idle connection may break at its next use, which would leave the outcome unknown: money gets a fresh one.
    return withPool(this.#base, env, { beforeSend }, async (pool) => {
      const onSoft = (): void => {
        const what = moneyTargetOf(path)?.call ?? 'order';
        if (!pool.hasConnected()) interrupt.abort();
        else onFinishing?.(`finishing the ${what} that is being sent; press Ctrl-C again to stop at once`);
      };
      if (signal.aborted || hardSignal.aborted) interrupt.abort();
      signal.addEventListener('abort', onSoft);
      // The process checks for this listener: without one, a second interruption exits at once.
      hardSignal.addEventListener('abort', onHard);
      try {
        return await this.#sendOnce(call, pool, { endsAt, signal: interrupt.signal }, read);
      } finally {
        signal.removeEventListener('abort', onSoft);
        hardSignal.removeEventListener('abort', onHard);
      }
    });
  }

  async #sendOnce<T>(call: Call, pool: ConnectionPool, { endsAt, signal }: Until, read: Read<T>): Promise<T> {
    const { hide, keySource, timeoutMs, trace } = this.#options;
    const [baseUrl, { peer }] = [this.#baseUrl, pool];
    const url = baseUrl + call.path;
    const startedAt = monotonicMs();
    // The user's limit is for all tries together.
    const ownLimitMs = call.streams ? NO_LIMIT_MS : (call.limitMs ?? READ_LIMIT_MS);
    const limitMs = Math.min(endsAt - startedAt, timeoutMs === undefined ? ownLimitMs : NO_LIMIT_MS);
    trace?.(`> ${call.method} ${url} ${call.params?.size ? cutSignatures(formatJson(call.params, 0)) : ''}`);
    const onResponse = async (response: HttpResponse): Promise<T> => {
      const { status, headers } = response;
      const took = Math.round(monotonicMs() - startedAt);
      trace?.(`< ${status} ${headers['content-type'] ?? ''} in ${took} ms`);
      const answer = { ...response, url, hide, hideKey: this.#hideKey };
      if (status < 300) return read(answer);
      throw await statusError(call, answer, { baseUrl, keySource, peer });
    };
    const onEarlyEnd = (end: EarlyEnd): never => {
      const { cause, answered } = end;
      if (call.safety === 'money' && pool.hasConnected())
        throw outcomeUnknownError(call, endMessage(end, peer), { cause });
      throw connectionError(end, peer, answered ? undefined : networkHint(cause, baseUrl));
    };
    const limits = { limitMs, interrupt: signal };
    return exchange(pool.send, this.#requestOf(call, url), limits, onResponse, onEarlyEnd);
  }

  /** The key goes in the JSON body, or in the query of a GET or HEAD. */
  #requestOf({ method, params, streams }: Call, url: string): HttpRequest {
    const { apiKey, userAgent } = this.#options;
    const { origin } = this.#base;
    // As it is: a URL would resolve dots and escapes in it.
    const path = url.slice(origin.length);
    const withKey = new Map<string, Json>([['api_key', apiKey], ...(params ?? [])]);
    const inQuery = method === 'GET' || method === 'HEAD';
    const headers = {
      'user-agent': userAgent,
      accept: '*/*',
      'accept-encoding': 'identity',
      ...(!inQuery && { 'content-type': 'application/json' }),
    };
    return {
      origin,
      method: method as HttpRequest['method'],
      path: inQuery ? `${path}?${toQuery(withKey)}` : path,
      headers,
      body: inQuery ? null : formatJson(withKey, 0),
      // Where a call has a deadline, that bounds the time to the headers.
      headersTimeout: streams ? MAX_SERVICE_SILENCE_MS : 0,
      bodyTimeout: MAX_SERVICE_SILENCE_MS,
    };
  }
}

function toQuery(params: JsonObject): string {
  const query = new URLSearchParams();
  for (const [key, value] of params)
    for (const each of Array.isArray(value) ? value : [value])
      query.append(key, typeof each === 'string' ? each : formatJson(each, 0));
  return query.toString();
}
