/** POSTs bytes to a URL of the user's, not to the service: without the key, and without retries. */

import type { Dispatcher } from 'undici';
import type { Env } from '../../lib/env.ts';
import { basicAuth } from './basic-auth.ts';
import { readStart } from './body.ts';
import { startDeadline } from './deadline.ts';
import { exchange, type HttpResponse } from './exchange.ts';
import { networkMessage, neverConnected } from './network-errors.ts';
import { type ConnectionPool, openPool } from './pool.ts';
import { proxyFor } from './proxy.ts';

export interface PostRequest {
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export type PostResult =
  | { readonly status: number; readonly location: string }
  /** No response came; `reached` says whether the target may have seen the request. */
  | { readonly error: string; readonly reached: boolean };

const LIMIT_MS = 30_000;
/** A longer response costs its connection. */
const MAX_RESPONSE_BYTES = 131_072;
const MAX_CONNECTIONS = 64;

export class PostTarget {
  readonly #url: URL;
  readonly #pool: ConnectionPool;

  private constructor(url: URL, pool: ConnectionPool) {
    this.#url = url;
    this.#pool = pool;
  }

  static async open(text: string, env: Env): Promise<PostTarget> {
    const url = new URL(text);
    const pool = await openPool(url, proxyFor(url, env), { connections: MAX_CONNECTIONS });
    return new PostTarget(url, pool);
  }

  async post(request: PostRequest, signal: AbortSignal): Promise<PostResult> {
    const deadline = startDeadline(LIMIT_MS, signal);
    let response: HttpResponse | undefined;
    try {
      response = await exchange(this.#pool.sender, this.#dispatchOptions(request), deadline.signal);
      // Its text is not used, but a connection is reused only after the whole response was read.
      await readStart(response, MAX_RESPONSE_BYTES);
      return { status: response.status, location: response.headers.location ?? '' };
    } catch (error) {
      const { peer } = this.#pool;
      if (deadline.expired) return { error: `${peer} did not answer in time`, reached: true };
      return { error: networkMessage(error, peer), reached: !neverConnected(error) };
    } finally {
      response?.body.discard();
      deadline.clear();
    }
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  #dispatchOptions({ contentType, body, headers }: PostRequest): Dispatcher.DispatchOptions {
    const { origin, pathname, search } = this.#url;
    const authorization = basicAuth(this.#url);
    return {
      origin,
      path: pathname + search,
      method: 'POST',
      headers: {
        'content-type': contentType,
        'user-agent': `steno/${STENO_VERSION}`,
        ...headers,
        ...(authorization && { authorization }),
      },
      body,
    };
  }
}
