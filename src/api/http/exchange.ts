/** One request and its response: everything that is sent goes through `exchange`. */
import type { Dispatcher } from 'undici';
import { errorCode, StenoError } from '../../lib/errors.ts';
import { oneLine } from '../../lib/text.ts';

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** To be read once. */
  readonly body: AsyncIterable<Buffer>;
}

export interface HttpRequest extends Dispatcher.DispatchOptions {
  headers: Record<string, string>;
}

export type Send = (request: HttpRequest, handler: Dispatcher.DispatchHandler) => void;

interface ExchangeLimits {
  /** For all of it, until the response was read. */
  readonly limitMs: number;
  /** The user's interruption. */
  readonly interrupt: AbortSignal;
}

/** The longest time that a timer of Node takes; as long or longer means no limit. */
export const NO_LIMIT_MS = 2 ** 31 - 1;

/** Why an exchange ended before its response was read. */
export interface EarlyEnd {
  readonly cause: unknown;
  /** By the user. */
  readonly interrupted: boolean;
  readonly timedOut: boolean;
  /** The head of a response came: address and scheme are right. */
  readonly answered: boolean;
}

/**
 * Sends a request and hands its response to `read`; what is left of the body is then discarded. Where there is none, or
 * it breaks off, `onEarlyEnd` says what comes of it.
 */
export async function exchange<T>(
  send: Send,
  request: HttpRequest,
  { limitMs, interrupt }: ExchangeLimits,
  read: (response: HttpResponse) => Promise<T>,
  onEarlyEnd: (end: EarlyEnd) => T,
): Promise<T> {
  let isAborted = false;
  let response: HttpResponse | undefined;
  const incoming = new Incoming();
  const abort = (): void => {
    isAborted = true;
    incoming.end();
  };
  const timer = limitMs < NO_LIMIT_MS ? setTimeout(abort, Math.max(1, limitMs)) : undefined;
  interrupt.addEventListener('abort', abort);
  try {
    if (interrupt.aborted) abort();
    response = await incoming.begin(() => send(request, incoming));
    return await read(response);
  } catch (error) {
    if (error instanceof StenoError && error.kind !== 'interrupted') throw error;
    const timedOut = isAborted || errorCode(error) === 'UND_ERR_HEADERS_TIMEOUT';
    return onEarlyEnd({
      cause: error,
      interrupted: interrupt.aborted,
      timedOut: timedOut && !interrupt.aborted,
      answered: response !== undefined,
    });
  } finally {
    clearTimeout(timer);
    interrupt.removeEventListener('abort', abort);
    incoming.end();
  }
}

/** How much of a body is held before its connection is paused. */
const MAX_HELD_BYTES = 65_536;

/**
 * A response as it comes. Speed: the stream that undici's `request` makes of every body, and the signal that ends it,
 * take a fifth of the processor time of many short downloads. To take it out, iterate the body of `Pool.request`.
 */
class Incoming implements Dispatcher.DispatchHandler {
  #onHead: (response: HttpResponse) => void = () => {};
  #onFailed: (error: unknown) => void = () => {};
  #controller: Dispatcher.DispatchController | undefined;
  readonly #held: Buffer[] = [];
  #heldBytes = 0;
  #isComplete = false;
  #error: Error | undefined;
  /** Tells the reader that something has come. */
  #wake = (): void => {};

  /** Resolves when the head has come. */
  begin(send: () => void): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      this.#onHead = resolve;
      this.#onFailed = reject;
      if (this.#error) reject(this.#error);
      else send();
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#error) controller.abort(this.#error);
  }

  onResponseStart(_: unknown, status: number, headers: Readonly<Record<string, unknown>>): void {
    // 1xx (early hints) comes before the response.
    if (status < 200) return;
    const texts: Record<string, string> = {};
    for (const name in headers) texts[name] = String(headers[name]);
    this.#onHead({ status, headers: texts, body: this.#read() });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes >= MAX_HELD_BYTES) controller.pause();
    this.#wake();
  }

  onResponseEnd(): void {
    this.#isComplete = true;
    this.#wake();
  }

  onResponseError(_: unknown, error: Error): void {
    this.#error ??= error;
    this.#onFailed(error);
    this.#wake();
  }

  /** Nothing more is read; a response that is not complete takes its connection with it. */
  end(): void {
    if (this.#isComplete || this.#error) return;
    const reason = new DOMException('This operation was aborted', 'AbortError');
    // At once: until it has a connection, undici has nothing to abort.
    this.onResponseError(undefined, reason);
    this.#controller?.abort(reason);
  }

  async *#read(): AsyncGenerator<Buffer, void> {
    for (;;) {
      for (let chunk = this.#held.shift(); chunk; chunk = this.#held.shift()) {
        this.#heldBytes -= chunk.length;
        yield chunk;
      }
      if (this.#error) throw this.#error;
      if (this.#isComplete) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#controller?.resume();
      });
    }
  }
}

type WithBody = Pick<HttpResponse, 'headers' | 'body'>;

/** Takes a chunk; one that returns a promise gets the next chunk only when it has settled. */
export type ChunkHandler = (chunk: Buffer) => void | Promise<void>;

/** Hands a whole body to a handler, chunk by chunk; resolves when the handler has taken all of it. */
export type ChunkSource = (onChunk: ChunkHandler) => Promise<void>;

export async function streamBody(response: WithBody, onChunk: ChunkHandler): Promise<void> {
  for await (const chunk of chunksOf(response)) await onChunk(chunk);
}

/** The body decompressed: we ask for no compression, but some servers compress all the same. */
function chunksOf(response: WithBody): AsyncIterable<Buffer> {
  const encoding = encodingOf(response);
  return isKnown(encoding) ? decompress(response.body, encoding) : response.body;
}

const decompressors = {
  gzip: 'createGunzip',
  'x-gzip': 'createGunzip',
  deflate: 'createInflate',
  br: 'createBrotliDecompress',
} as const;

type Encoding = keyof typeof decompressors;

const isKnown = (encoding: string): encoding is Encoding => Object.hasOwn(decompressors, encoding);

const encodingOf = ({ headers }: WithBody): string =>
  (headers['content-encoding'] ?? '').trim().toLowerCase();

/** Names that some servers give to a body as it is. */
const plainEncodings = new Set(['', 'identity', 'none', 'utf-8', 'utf8', 'binary', '8bit', '7bit']);

/** The encoding of a body that comes to its reader as it was sent, because nothing is known about it. */
export function unknownEncoding(response: WithBody): string | undefined {
  const encoding = encodingOf(response);
  return plainEncodings.has(encoding) || isKnown(encoding) ? undefined : oneLine(encoding, 40);
}

async function* decompress(body: AsyncIterable<Buffer>, encoding: Encoding): AsyncGenerator<Buffer, void> {
  const [{ pipeline }, zlib] = await Promise.all([import('node:stream'), import('node:zlib')]);
  const decompressor = zlib[decompressors[encoding]]();
  try {
    yield* pipeline(body, decompressor, () => {});
  } catch (error) {
    const code = errorCode(error) ?? '';
    // A broken connection is not an error of zlib.
    if (!/^(Z_|ERR_.*_ERROR_)/.test(code)) throw error;
    // No body at all is not a broken one: a HEAD has none, whatever its headers say.
    if (code === 'Z_BUF_ERROR' && decompressor.bytesWritten === 0) return;
    throw new StenoError('failed', `the answer is not valid ${encoding}`);
  }
}

/** The first bytes of a text of any length; what came before the connection broke counts too. */
export async function readStart(response: WithBody, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of chunksOf(response)) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxBytes) break;
    }
  } catch {
    // The text is shown as far as it came.
  }
  return Buffer.concat(chunks).toString('utf8', 0, maxBytes);
}

const tooLarge = (maxBytes: number): StenoError =>
  new StenoError('failed', `the answer is larger than ${maxBytes / 1024 / 1024} MB`);

export async function readBytes(response: WithBody, maxBytes: number, refusal = tooLarge): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(response)) {
    size += chunk.length;
    if (size > maxBytes) throw refusal(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
