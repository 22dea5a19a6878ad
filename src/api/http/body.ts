/** The body of a response: streamed with back pressure, and decompressed. */
import type { Dispatcher } from 'undici';
import { StenoError } from '../../lib/errors.ts';
import { oneLine } from '../../lib/text.ts';

/** Takes a chunk; one that returns a promise gets the next chunk only when it has settled. */
export type ChunkHandler = (chunk: Buffer) => void | Promise<void>;

/** Hands a whole body to a handler, chunk by chunk; resolves when the handler has taken all of it. */
export type ChunkSource = (onChunk: ChunkHandler) => Promise<void>;

/** How much is buffered before the connection is paused. */
const MAX_BUFFERED_BYTES = 65_536;

export class Body {
  readonly #controller: Dispatcher.DispatchController;
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;
  #onChunk: ChunkHandler | undefined;
  /** The handler is busy with a chunk. */
  #busy = false;
  #complete = false;
  #error: unknown;
  #resolve: () => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(controller: Dispatcher.DispatchController) {
    this.#controller = controller;
  }

  push(chunk: Buffer): void {
    if (this.#error !== undefined) return;
    if (this.#onChunk && !this.#busy) return void this.#hand(this.#onChunk, chunk);
    this.#buffered.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (this.#bufferedBytes >= MAX_BUFFERED_BYTES) this.#controller.pause();
  }

  end(): void {
    this.#complete = true;
    if (this.#onChunk && !this.#busy) this.#resolve();
  }

  fail(error: unknown): void {
    this.#error ??= error;
    this.#reject(this.#error);
  }

  /** Hands everything to the handler, as it came; resolves when it has taken all. To be called once. */
  stream(onChunk: ChunkHandler): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#onChunk = onChunk;
      this.#flush(onChunk);
    });
  }

  /** Reads no further; a body that is not complete takes its connection with it. */
  discard(): void {
    if (!this.#complete && this.#error === undefined) this.#cancel(new Error('the body was discarded'));
  }

  #flush(onChunk: ChunkHandler): void {
    while (this.#error === undefined && this.#buffered.length && !this.#busy) {
      const chunk = this.#buffered.shift() as Buffer;
      this.#bufferedBytes -= chunk.length;
      this.#hand(onChunk, chunk);
    }
    if (this.#error !== undefined) this.#reject(this.#error);
    else if (this.#busy) return;
    else if (this.#complete) this.#resolve();
    else this.#controller.resume();
  }

  #hand(onChunk: ChunkHandler, chunk: Buffer): void {
    try {
      const taken = onChunk(chunk);
      if (taken instanceof Promise) this.#waitFor(taken, onChunk);
    } catch (error) {
      this.#cancel(error);
    }
  }

  #waitFor(taken: Promise<void>, onChunk: ChunkHandler): void {
    this.#busy = true;
    taken.then(
      () => {
        this.#busy = false;
        this.#flush(onChunk);
      },
      (error: unknown) => this.#cancel(error),
    );
  }

  #cancel(error: unknown): void {
    this.fail(error);
    this.#buffered = [];
    if (!this.#complete) this.#controller.abort(error as Error);
  }
}

interface WithBody {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
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

/** Streams the body decompressed: we ask for no compression, but some servers compress all the same. */
export function streamBody(response: WithBody, onChunk: ChunkHandler): Promise<void> {
  const encoding = encodingOf(response);
  return Object.hasOwn(decompressors, encoding)
    ? decompress(response.body, encoding as Encoding, onChunk)
    : response.body.stream(onChunk);
}

/** Names that some servers give to a body as it is. */
const plainEncodings = new Set(['', 'identity', 'none', 'utf-8', 'utf8', 'binary', '8bit', '7bit']);

/** The encoding of a body that comes to its reader as it was sent, because nothing is known about it. */
export function unknownEncoding(response: WithBody): string | undefined {
  const encoding = encodingOf(response);
  if (plainEncodings.has(encoding) || Object.hasOwn(decompressors, encoding)) return undefined;
  return oneLine(encoding, 40);
}

async function decompress(body: Body, encoding: Encoding, onChunk: ChunkHandler): Promise<void> {
  const zlib = await import('node:zlib');
  const decompressor = zlib[decompressors[encoding]]();
  let empty = true;
  let brokenOff: unknown;
  const write = (chunk: Buffer): Promise<void> => {
    empty = false;
    // An error of the decompressor is thrown where it is read.
    return new Promise((resolve) => decompressor.write(chunk, () => resolve()));
  };
  // Not awaited: its failure destroys the decompressor, and the loop below throws it.
  void body.stream(write).then(
    // No body at all is not a broken one: a HEAD has none, whatever its headers say.
    () => (empty ? decompressor.push(null) : decompressor.end()),
    (error) => {
      brokenOff = error;
      decompressor.destroy(error);
    },
  );
  const chunks = decompressor[Symbol.asyncIterator]();
  const pull = (): Promise<IteratorResult<Buffer>> =>
    chunks.next().catch((error: unknown) => {
      throw error === brokenOff ? error : new StenoError('failed', `the answer is not valid ${encoding}`);
    });
  try {
    for (let next = await pull(); !next.done; next = await pull()) await onChunk(next.value);
  } finally {
    decompressor.destroy();
  }
}

const limitReached = new Error('limit reached');

/** The first bytes of a text of any length; what came before the connection broke counts too. */
export async function readStart(response: WithBody, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    await streamBody(response, (chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxBytes) throw limitReached;
    });
  } catch {
    // The text is shown as far as it came.
  }
  return Buffer.concat(chunks).toString('utf8', 0, maxBytes);
}

export async function readBytes(response: WithBody, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  await streamBody(response, (chunk) => {
    size += chunk.length;
    if (size > maxBytes)
      throw new StenoError('failed', `the answer is larger than ${maxBytes / 1024 / 1024} MB`);
    chunks.push(chunk);
  });
  return Buffer.concat(chunks);
}
