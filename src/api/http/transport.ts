/** Sends calls to the service: with the key, within their time limits, and repeated where that is safe. */

import { channel } from 'node:diagnostics_channel';
import { cutSignatures } from '../../lib/audio-identity.ts';
import { monotonicMs } from '../../lib/clock.ts';
import { READ_LIMIT_MS } from '../../lib/defaults.ts';
import type { Env } from '../../lib/env.ts';
import { errorCode, errorMessage, StenoError } from '../../lib/errors.ts';
import { formatJson } from '../../lib/json.ts';
import { hiderOf } from '../../lib/mask.ts';
import type { Call, CallResponse } from './call.ts';
import { NO_LIMIT_MS, startDeadline } from './deadline.ts';
import { exchange } from './exchange.ts';
import { type CallError, connectionError, statusError } from './failures.ts';
import { finishingText, moneyInterrupt } from './money-interrupt.ts';
import { neverConnected } from './network-errors.ts';
import { Outage } from './outage.ts';
import { type ConnectionPool, openPool, type PoolOptions } from './pool.ts';
import { proxyFor } from './proxy.ts';
import { ReadTries } from './read-tries.ts';
import { makeRequest, makeService, type Service } from './request.ts';
import type { CallOrigin } from './service-hints.ts';

export type Trace = (line: string) => void;

export interface TransportOptions {
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

interface Limits {
  /** When all tries must be over, on the monotonic clock. */
  readonly endsAt: number;
  /** What each of them may take. */
  readonly eachMs: number;
}

type OpenPool = (options: PoolOptions) => Promise<ConnectionPool>;

export class Transport {
  readonly #options: TransportOptions;
  readonly #service: Service;
  readonly #openPool: OpenPool;
  readonly #sharedPool: ConnectionPool;
  readonly #outage = new Outage();
  readonly #hideKey: (text: string) => string;

  private constructor(options: TransportOptions, openPool: OpenPool, sharedPool: ConnectionPool) {
    const { apiKey, userAgent, baseUrl } = options;
    this.#options = options;
    this.#hideKey = hiderOf(apiKey);
    this.#service = makeService(new URL(baseUrl), apiKey, userAgent);
    this.#openPool = openPool;
    this.#sharedPool = sharedPool;
  }

  /** Loads what calls need: later, flags of V8 that bulk work sets would keep its compiled code from being taken. */
  static async open({ baseUrl, ...options }: TransportOptions): Promise<Transport> {
    const base = new URL(baseUrl.replace(/\/+$/, ''));
    const proxy = proxyFor(base, options.env);
    const open = (how: PoolOptions): Promise<ConnectionPool> => openPool(base, proxy, how);
    return new Transport(
      { ...options, baseUrl: base.href },
      open,
      await open({ connections: options.connections }),
    );
  }

  /** Masks secrets in what the service says. */
  get hide(): (text: string) => string {
    return this.#options.hide;
  }

  /** Fires when the user interrupts. */
  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** Sends a call and hands its response to `read`; if the call is a read, a failure of either may be repeated. */
  send<T>(call: Call, read: (response: CallResponse) => Promise<T>): Promise<T> {
    const { timeoutMs, endsAtMs = Number.POSITIVE_INFINITY } = this.#options;
    const endsAt = timeoutMs === undefined ? endsAtMs : Math.min(endsAtMs, monotonicMs() + timeoutMs);
    const limits = { endsAt, eachMs: timeoutMs === undefined ? defaultLimitMs(call) : NO_LIMIT_MS };
    if (call.safety === 'money') return this.#sendForMoney(call, limits, read);
    return call.safety === 'read'
      ? this.#sendRead(call, limits, read)
      : this.#sendOnce(call, this.#sharedPool, limits, read);
  }

  /** Sends a read again where that may help; while the service is down, one read tries for all. */
  async #sendRead<T>(call: Call, limits: Limits, read: (response: CallResponse) => Promise<T>): Promise<T> {
    const { signal, trace } = this.#options;
    const onRetry = (error: CallError, pauseMs: number): void =>
      trace?.(`${errorMessage(error)}; trying again in ${pauseMs} ms`);
    const tries = new ReadTries({ outage: this.#outage, endsAt: limits.endsAt, signal, onRetry });
    for (;;) {
      await tries.mayBeSent();
      try {
        const result = await this.#sendOnce(call, this.#sharedPool, limits, read);
        tries.succeeded();
        return result;
      } catch (error) {
        await tries.failed(error);
      }
    }
  }

  /** Closes every connection, so that the process can end. */
  async close(): Promise<void> {
    await this.#sharedPool.close();
  }

  /** Never repeated. The first interruption does not break off what may have been read: its answer is waited for. */
  async #sendForMoney<T>(
    call: Call,
    limits: Limits,
    read: (response: CallResponse) => Promise<T>,
  ): Promise<T> {
    const { signal, hardSignal = signal, onFinishing } = this.#options;
    // An idle connection may break at its next use, which would leave the outcome unknown: money gets a fresh one.
    const pool = await this.#openPool({ beforeSend: call.beforeSend });
    // Only for money: watching costs time at every call.
    const sending = watchSending(call.path);
    const interrupt = moneyInterrupt({
      soft: signal,
      hard: hardSignal,
      sent: sending.started,
      onFinishing: () => onFinishing?.(finishingText(call.path)),
    });
    try {
      return await this.#sendOnce(call, pool, limits, read, { interrupt: interrupt.signal, sending });
    } finally {
      interrupt.clear();
      sending.unwatch();
      await pool.close();
    }
  }

  async #sendOnce<T>(
    call: Call,
    pool: ConnectionPool,
    { endsAt, eachMs }: Limits,
    read: (response: CallResponse) => Promise<T>,
    money?: { readonly interrupt: AbortSignal; readonly sending: SendingWatch },
  ): Promise<T> {
    const { hide } = this.#options;
    const interrupt = money?.interrupt ?? this.#options.signal;
    const deadline = startDeadline(Math.min(endsAt - monotonicMs(), eachMs), interrupt);
    let response: CallResponse | undefined;
    try {
      const traceResponse = this.#traceRequest(call);
      const request = makeRequest(call, this.#service);
      const url = this.#service.origin + this.#service.basePath + call.path;
      const { status, headers, body } = await exchange(pool.sender, request, deadline.signal);
      response = { status, headers, body, url, hide, hideKey: this.#hideKey, signal: deadline.signal };
      traceResponse?.(response);
      if (response.status >= 300) throw await statusError(call, response, this.#originOf(pool));
      return await read(response);
    } catch (error) {
      if (error instanceof StenoError && error.kind !== 'interrupted') throw error;
      throw connectionError(call, error, {
        sent: money?.sending.started() ?? !neverConnected(error),
        interrupted: interrupt.aborted,
        timedOut: deadline.expired || errorCode(error) === 'UND_ERR_HEADERS_TIMEOUT',
        answered: response !== undefined,
        origin: this.#originOf(pool),
      });
    } finally {
      response?.body.discard();
      deadline.clear();
    }
  }

  #originOf({ peer }: ConnectionPool): CallOrigin {
    const { origin, basePath } = this.#service;
    return { baseUrl: origin + basePath, keySource: this.#options.keySource, peer };
  }

  /** Traces what is sent, without the key; what it returns traces the response. */
  #traceRequest({ method, path, params }: Call): ((response: CallResponse) => void) | undefined {
    const { trace } = this.#options;
    if (!trace) return undefined;
    const { origin, basePath } = this.#service;
    const startedAt = monotonicMs();
    const sent = params?.size ? cutSignatures(formatJson(params, 0)) : '';
    trace(`> ${method} ${origin}${basePath}${path} ${sent}`);
    return ({ status, headers }) =>
      trace(`< ${status} ${headers['content-type'] ?? ''} in ${Math.round(monotonicMs() - startedAt)} ms`);
  }
}

function defaultLimitMs({ streams, limitMs = READ_LIMIT_MS }: Call): number {
  return streams ? NO_LIMIT_MS : limitMs;
}

interface SendingWatch {
  readonly started: () => boolean;
  readonly unwatch: () => void;
}

/** Tells whether undici has begun to write a request to this path. */
function watchSending(path: string): SendingWatch {
  let started = false;
  const sending = channel('undici:client:sendHeaders');
  const onSending = (message: unknown): void => {
    const { request } = message as { request: { method: string; path: string } };
    if (request.method !== 'CONNECT' && request.path.includes(path)) started = true;
  };
  sending.subscribe(onSending);
  return { started: () => started, unwatch: () => void sending.unsubscribe(onSending) };
}
