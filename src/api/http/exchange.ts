/** One request and its response on undici's `dispatch`: everything that is sent goes through `exchange`. */
import type { Dispatcher } from 'undici';
import { errorCode, StenoError } from '../../lib/errors.ts';
import { oneLine } from '../../lib/text.ts';

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
  /** A signal that fires when the time is over, and when the user interrupts. */
  readonly signal: () => AbortSignal;
}

/** An undici dispatcher, or what changes requests on their way to one. */
export type RequestSender = Pick<Dispatcher, 'dispatch'>;

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
  sender: RequestSender,
  request: Dispatcher.DispatchOptions,
  { limitMs, interrupt }: ExchangeLimits,
  read: (response: HttpResponse) => Promise<T>,
  onEarlyEnd: (end: EarlyEnd) => T,
): Promise<T> {
  const ending = new Ending();
  const timer = limitMs < NO_LIMIT_MS ? setTimeout(ending.end, Math.max(1, limitMs)) : undefined;
  interrupt.addEventListener('abort', ending.end);
  if (interrupt.aborted) ending.end();
  let response: HttpResponse | undefined;
  try {
    response = await dispatch(sender, request, ending);
    return await read(response);
  } catch (error) {
    if (error instanceof StenoError && error.kind !== 'interrupted') throw error;
    const timedOut = ending.reason !== undefined || errorCode(error) === 'UND_ERR_HEADERS_TIMEOUT';
    return onEarlyEnd({
      cause: error,
      interrupted: interrupt.aborted,
      timedOut: timedOut && !interrupt.aborted,
      answered: response !== undefined,
    });
  } finally {
    clearTimeout(timer);
    interrupt.removeEventListener('abort', ending.end);
    response?.body.discard();
  }
}

/** Ends an exchange at any time. Speed: a signal would take a fifth of a short call, and is made only when asked for. */
class Ending {
  /** Set when it has ended. */
  reason: Error | undefined;
  onEnd: (reason: Error) => void = () => {};
  #controller: AbortController | undefined;

  readonly end = (): void => {
    this.reason ??= new DOMException('This operation was aborted', 'AbortError');
    this.onEnd(this.reason);
    this.#controller?.abort(this.reason);
  };

  readonly signal = (): AbortSignal => {
    this.#controller ??= new AbortController();
    if (this.reason) this.#controller.abort(this.reason);
    return this.#controller.signal;
  };
}

/**
 * Resolves when the headers have come.
 *
 * Speed: undici's `request` makes a Node stream of every body, which takes 1.3 times the processor time for many short
 * calls at once, and 1.2 times for a large body. To take it out, call `Pool.request` here and iterate its stream.
 */
function dispatch(
  sender: RequestSender,
  request: Dispatcher.DispatchOptions,
  ending: Ending,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    if (ending.reason) return reject(ending.reason);
    let body: Body | undefined;
    let connected: Dispatcher.DispatchController | undefined;
    ending.onEnd = (reason) => {
      // At once: while undici is still connecting, it has no controller to abort.
      reject(reason);
      connected?.abort(reason);
    };
    sender.dispatch(request, {
      onRequestStart(controller) {
        connected = controller;
        if (ending.reason) controller.abort(ending.reason);
      },
      onResponseStart(controller, status, headers) {
        // 1xx (continue, early hints) comes before the response.
        if (status < 200) return;
        const flat: Record<string, string> = {};
        for (const name in headers) flat[name] = String(headers[name] ?? '');
        body = new Body(controller);
        resolve({ status, headers: flat, body, signal: ending.signal });
      },
      onResponseData: (_, chunk) => body?.push(chunk),
      onResponseEnd: () => body?.end(),
      onResponseError(_, error) {
        reject(error);
        body?.fail(error);
      },
    });
  });
}

/** How much is buffered before the connection is paused. */
const MAX_BUFFERED_BYTES = 65_536;

/** The body of a response as it comes, with back pressure. To be read once. */
export class Body implements AsyncIterable<Buffer> {
  readonly #controller: Dispatcher.DispatchController;
  readonly #buffered: Buffer[] = [];
  #bufferedBytes = 0;
  #complete = false;
  #error: unknown;
  /** Tells the reader that something has come. */
  #wake: () => void = () => {};

  constructor(controller: Dispatcher.DispatchController) {
    this.#controller = controller;
  }

  push(chunk: Buffer): void {
    this.#buffered.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (this.#bufferedBytes >= MAX_BUFFERED_BYTES) this.#controller.pause();
    this.#wake();
  }

  end(): void {
    this.#complete = true;
    this.#wake();
  }

  fail(error: unknown): void {
    this.#error ??= error;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    for (;;) {
      for (let chunk = this.#buffered.shift(); chunk; chunk = this.#buffered.shift()) {
        this.#bufferedBytes -= chunk.length;
        yield chunk;
      }
      if (this.#error !== undefined) throw this.#error;
      if (this.#complete) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        // It may hand over what it has at once.
        this.#controller.resume();
      });
    }
  }

  /** Reads no further; a body that is not complete takes its connection with it. */
  discard(): void {
    if (this.#complete || this.#error !== undefined) return;
    const error = new Error('the body was discarded');
    this.fail(error);
    this.#controller.abort(error);
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
  const isCompressed = Object.hasOwn(decompressors, encoding);
  return isCompressed ? decompress(response.body, encoding as Encoding) : response.body;
}

const decompressors = {
  gzip: 'createGunzip',
  'x-gzip': 'createGunzip',
  deflate: 'createInflate',
  br: 'createBrotliDecompress',
} as const;

type Encoding = keyof typeof decompressors;

const encodingOf = ({ headers }: WithBody): string =>
  (headers['content-encoding'] ?? '').trim().toLowerCase();

/** Names that some servers give to a body as it is. */
const plainEncodings = new Set(['', 'identity', 'none', 'utf-8', 'utf8', 'binary', '8bit', '7bit']);

/** The encoding of a body that comes to its reader as it was sent, because nothing is known about it. */
export function unknownEncoding(response: WithBody): string | undefined {
  const encoding = encodingOf(response);
  if (plainEncodings.has(encoding) || Object.hasOwn(decompressors, encoding)) return undefined;
  return oneLine(encoding, 40);
}

async function* decompress(body: Body, encoding: Encoding): AsyncGenerator<Buffer, void> {
  const zlib = await import('node:zlib');
  const decompressor = zlib[decompressors[encoding]]();
  let brokenOff: unknown;
  const feed = async (): Promise<void> => {
    let empty = true;
    for await (const chunk of body) {
      empty = false;
      // An error of the decompressor is thrown where it is read.
      await new Promise<void>((resolve) => decompressor.write(chunk, () => resolve()));
    }
    // No body at all is not a broken one: a HEAD has none, whatever its headers say.
    if (empty) decompressor.push(null);
    else decompressor.end();
  };
  void feed().catch((error) => {
    brokenOff = error;
    decompressor.destroy(error);
  });
  try {
    yield* decompressor;
  } catch (error) {
    throw error === brokenOff ? error : new StenoError('failed', `the answer is not valid ${encoding}`);
  } finally {
    decompressor.destroy();
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
