/** Sends bytes to an address of the user's, which is not the service: no key goes along, nothing is repeated. */
import type { Dispatcher } from 'undici';
import { connectorTo } from './connect.ts';
import { describe } from './failures.ts';

export interface Parcel {
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Receipt =
  | { readonly status: number; readonly location: string }
  /** Nobody was reached, or nobody answered. */
  | { readonly error: string; readonly reached: boolean };

const LIMIT = 30_000;

export class PostTarget {
  readonly #url: URL;
  readonly #dispatcher: Dispatcher;

  private constructor(url: URL, dispatcher: Dispatcher) {
    this.#url = url;
    this.#dispatcher = dispatcher;
  }

  static async open(text: string, env: Readonly<Record<string, string | undefined>>): Promise<PostTarget> {
    const url = new URL(text);
    return new PostTarget(url, (await connectorTo(url, { env, busy: true }))());
  }

  async post({ contentType, body, headers }: Parcel, signal: AbortSignal): Promise<Receipt> {
    const { origin, pathname, search, host, username, password } = this.#url;
    try {
      const response = await this.#dispatcher.request({
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
        signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT)]),
      });
      await response.body.dump();
      return { status: response.statusCode, location: String(response.headers.location ?? '') };
    } catch (error) {
      const late = (error as Error).name === 'TimeoutError';
      const what = late ? `${host} did not answer in time` : describe(error, host);
      return { error: what, reached: late || !isUnreachable(error) };
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${decodeURIComponent(name)}:${decodeURIComponent(password)}`).toString('base64')}`;

const unreachable = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** No connection was made, so that the target has seen nothing. */
const isUnreachable = (error: unknown): boolean =>
  unreachable.includes((error as NodeJS.ErrnoException).code ?? '');
