/** One request and its response: everything that is sent goes through `exchange`. */
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { errorCode, StenoError } from '../../lib/errors.ts';
import { oneLine } from '../../lib/text.ts';

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
  /** Fires when the time is over, and when the user interrupts. */
  readonly signal: AbortSignal;
}

export interface HttpRequest extends Dispatcher.RequestOptions {
  headers: Record<string, string>;
}

/** Resolves when the headers of the response arrive. */
export type Send = (request: HttpRequest) => Promise<Dispatcher.ResponseData>;

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
  const ending = new AbortController();
  const { signal } = ending;
  const end = (): void => ending.abort();
  const timer = limitMs < NO_LIMIT_MS ? setTimeout(end, Math.max(1, limitMs)) : undefined;
  interrupt.addEventListener('abort', end);
  if (interrupt.aborted) end();
  let response: HttpResponse | undefined;
  try {
    signal.throwIfAborted();
    // undici ignores the signal until it has a connection.
    const aborted = new Promise<never>((_, reject) => {
      signal.onabort = () => reject(signal.reason);
    });
    const { statusCode, headers, body } = await Promise.race([send({ ...request, signal }), aborted]);
    const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
    response = { status: statusCode, headers: Object.fromEntries(texts), body, signal };
    return await read(response);
  } catch (error) {
    if (error instanceof StenoError && error.kind !== 'interrupted') throw error;
    const timedOut = signal.aborted || errorCode(error) === 'UND_ERR_HEADERS_TIMEOUT';
    return onEarlyEnd({
      cause: error,
      interrupted: interrupt.aborted,
      timedOut: timedOut && !interrupt.aborted,
      answered: response !== undefined,
    });
  } finally {
    clearTimeout(timer);
    interrupt.removeEventListener('abort', end);
    response?.body.on('error', () => {}).destroy();
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

async function* decompress(body: Readable, encoding: Encoding): AsyncGenerator<Buffer, void> {
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
