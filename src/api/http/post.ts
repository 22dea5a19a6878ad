/** Sends bytes to an address of the user's, which is not the service: no key goes along, nothing is repeated. */

import type { Dispatcher } from 'undici';
import type { Env } from '../../lib/env.ts';
import { readStart } from './body.ts';
import { endOf } from './deadline.ts';
import { exchange, type HttpResponse } from './exchange.ts';
import { describe, neverReached } from './failures.ts';
import { connectorTo, type Line } from './pool.ts';

export interface PostRequest {
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export type PostResult =
  | { readonly status: number; readonly location: string }
  /** Nobody was reached, or nobody answered. */
  | { readonly error: string; readonly reached: boolean };

const LIMIT = 30_000;
const LONGEST_WORD = 131_072;

export class PostTarget {
  readonly #url: URL;
  readonly #line: Line;

  private constructor(url: URL, line: Line) {
    this.#url = url;
    this.#line = line;
  }

  static async open(text: string, env: Env): Promise<PostTarget> {
    const url = new URL(text);
    return new PostTarget(url, (await connectorTo(url, env))());
  }

  async post({ contentType, body, headers }: PostRequest, signal: AbortSignal): Promise<PostResult> {
    const { origin, pathname, search, host, username, password } = this.#url;
    const deadline = endOf(LIMIT, signal);
    let response: HttpResponse | undefined;
    try {
      const request: Dispatcher.DispatchOptions = {
        origin,
        path: pathname + search,
        method: 'POST',
        headers: {
          'content-type': contentType,
          'user-agent': `steno/${STENO_VERSION}`,
          ...headers,
          ...(username && { authorization: basic(username, password) }),
        },
        body,
      };
      response = await exchange(this.#line.dispatcher, request, deadline.signal);
      // What it says does not matter, but a connection is used again only after all of it was read.
      await readStart(response, LONGEST_WORD);
      return { status: response.status, location: response.headers.location ?? '' };
    } catch (error) {
      const late = deadline.passed;
      const what = late ? `${host} did not answer in time` : describe(error, host);
      return { error: what, reached: late || !neverReached(error) };
    } finally {
      response?.body.drop();
      deadline.end();
    }
  }

  async close(): Promise<void> {
    await this.#line.close();
  }
}

const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${decodeURIComponent(name)}:${decodeURIComponent(password)}`).toString('base64')}`;
