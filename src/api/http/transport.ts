/** One way to the service: what is sent, how long it may take, when it may be repeated. */

import { channel } from 'node:diagnostics_channel';
import type { Dispatcher } from 'undici';
import type { Env } from '../../lib/env.ts';
import { errorCode, errorMessage, StenoError } from '../../lib/errors.ts';
import { formatJson, type Json, type JsonObject } from '../../lib/json.ts';
import { Mask } from '../../lib/mask.ts';
import { sleep } from '../../lib/sleep.ts';
import type { Call, CallResponse } from './call.ts';
import { type End, endOf, NEVER } from './deadline.ts';
import { exchange } from './exchange.ts';
import { neverReached, statusError, transportError } from './failures.ts';
import { type Connect, connectorTo, type Line } from './pool.ts';
import { pauseBefore } from './retry.ts';

export interface TransportOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeout: number | undefined;
  /** No call goes on beyond this moment. */
  readonly until?: number | undefined;
  readonly userAgent: string;
  readonly env: Env;
  readonly signal: AbortSignal;
  /** Is given what makes the line: mostly nobody wants it. */
  readonly trace: (line: () => string) => void;
}

const READ_LIMIT = 30_000;
const LONGEST_SILENCE = 60_000;

export class Transport {
  readonly #options: TransportOptions;
  readonly #origin: string;
  readonly #host: string;
  /** The path of the base URL, without a slash at its end. */
  readonly #root: string;
  readonly #connect: Connect;
  readonly #shared: Line;
  readonly #mask = new Mask();

  private constructor(options: TransportOptions, base: URL, connect: Connect) {
    this.#options = options;
    this.#mask.add(options.apiKey);
    this.#origin = base.origin;
    this.#host = base.host;
    this.#root = base.pathname.replace(/\/$/, '');
    this.#connect = connect;
    this.#shared = connect();
  }

  static async open(options: TransportOptions): Promise<Transport> {
    const base = new URL(options.baseUrl.replace(/\/+$/, ''));
    return new Transport(options, base, await connectorTo(base, options.env));
  }

  /** Sends a call and hands the answer to `take`; a failure of either may be repeated if the call is a read. */
  async send<T>(call: Call, take: (response: CallResponse) => Promise<T>): Promise<T> {
    const { timeout, until = Number.POSITIVE_INFINITY, signal, trace } = this.#options;
    const last = timeout === undefined ? until : Math.min(until, Date.now() + timeout);
    const usual = call.streams ? NEVER : (call.limit ?? READ_LIMIT);
    for (let attempt = 1; ; attempt += 1) {
      const left = Math.min(last - Date.now(), timeout === undefined ? usual : NEVER);
      const deadline = endOf(left, signal);
      try {
        return await this.#once(call, deadline, take);
      } catch (error) {
        const pause = call.safety === 'read' ? pauseBefore(error, attempt, last - Date.now()) : undefined;
        if (pause === undefined || signal.aborted) throw error;
        trace(() => `${errorMessage(error)}; trying again in ${pause} ms`);
        await sleep(pause, signal);
      } finally {
        deadline.end();
      }
    }
  }

  /** Lets go of every connection, so that the process can end. */
  async close(): Promise<void> {
    await this.#shared.close();
  }

  async #once<T>(call: Call, deadline: End, take: (response: CallResponse) => Promise<T>): Promise<T> {
    const { signal, trace } = this.#options;
    // A connection that stood idle may die as it is used: what costs money gets one of its own.
    const line = call.safety === 'money' ? this.#connect() : this.#shared;
    // To watch costs time on every call, and only money must know.
    const watch = call.safety === 'money' ? watchSending(call.path) : undefined;
    const started = Date.now();
    let response: CallResponse | undefined;
    try {
      const answer = await exchange(line.dispatcher, this.#request(call), deadline.signal);
      response = { ...answer, hide: this.#mask.hide };
      const { status, headers } = response;
      trace(() => `< ${status} ${headers['content-type'] ?? ''} in ${Date.now() - started} ms`);
      if (status >= 300) throw await statusError(call, response);
      return await take(response);
    } catch (error) {
      if (error instanceof StenoError && error.kind !== 'interrupted') throw error;
      throw transportError(call, error, {
        sent: watch?.sent() ?? !neverReached(error),
        interrupted: signal.aborted,
        timedOut: deadline.passed || errorCode(error) === 'UND_ERR_HEADERS_TIMEOUT',
        host: this.#host,
      });
    } finally {
      response?.body.drop();
      watch?.end();
      if (line !== this.#shared) await line.close();
    }
  }

  #request(call: Call): Dispatcher.DispatchOptions {
    const { apiKey, userAgent, trace } = this.#options;
    const inQuery = call.method === 'GET' || call.method === 'HEAD';
    const path = this.#root + call.path;
    const headers: Record<string, string> = {
      'user-agent': userAgent,
      accept: '*/*',
      'accept-encoding': 'identity',
    };
    const params = call.params ?? new Map<string, Json>();
    trace(() => `> ${call.method} ${this.#origin}${path} ${params.size ? formatJson(params, 0) : ''}`);
    const keyed: JsonObject = new Map<string, Json>([['api_key', apiKey], ...params]);
    if (!inQuery) headers['content-type'] = 'application/json';
    return {
      origin: this.#origin,
      method: call.method as Dispatcher.HttpMethod,
      path: inQuery ? `${path}?${query(keyed)}` : path,
      headers,
      body: inQuery ? null : formatJson(keyed, 0),
      // The deadline bounds the whole; these only bound silence.
      headersTimeout: call.streams ? LONGEST_SILENCE : 0,
      bodyTimeout: LONGEST_SILENCE,
    };
  }
}

/** Tells whether any part of a request to this path was handed to a connection. */
function watchSending(path: string): { sent(): boolean; end(): void } {
  let sent = false;
  const sending = channel('undici:client:sendHeaders');
  const notice = (message: unknown): void => {
    const { request } = message as { request: { method: string; path: string } };
    if (request.method !== 'CONNECT' && request.path.includes(path)) sent = true;
  };
  sending.subscribe(notice);
  return { sent: () => sent, end: () => void sending.unsubscribe(notice) };
}

function query(params: JsonObject): string {
  const pairs = [...params].flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).map((each): [string, string] => [
      key,
      typeof each === 'string' ? each : formatJson(each, 0),
    ]),
  );
  return new URLSearchParams(pairs).toString();
}
