/** The body of an answer, as it comes and without a coding. */
import type { Dispatcher } from 'undici';
import { StenoError } from '../../lib/errors.ts';

/** Takes a part; one that needs time for it returns a promise, and gets no more until then. */
export type ChunkHandler = (chunk: Buffer) => void | Promise<void>;

/** Hands everything to a sink, part by part; resolves when it has taken all. */
export type ChunkSource = (sink: ChunkHandler) => Promise<void>;

/** So much is held for a sink that is not there yet or not ready. */
const MOST_HELD = 65_536;

export class Body {
  readonly #source: Dispatcher.DispatchController;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #sink: ChunkHandler | undefined;
  #waits = false;
  #whole = false;
  #error: unknown;
  #done: () => void = () => {};
  #failed: (error: unknown) => void = () => {};

  constructor(source: Dispatcher.DispatchController) {
    this.#source = source;
  }

  push(chunk: Buffer): void {
    if (this.#error !== undefined) return;
    if (this.#sink && !this.#waits) return void this.#give(this.#sink, chunk);
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes >= MOST_HELD) this.#source.pause();
  }

  end(): void {
    this.#whole = true;
    if (this.#sink && !this.#waits) this.#done();
  }

  fail(error: unknown): void {
    this.#error ??= error;
    this.#failed(this.#error);
  }

  /** Hands everything to the sink; resolves when all has come and was taken. To be called once. */
  stream(sink: ChunkHandler): Promise<void> {
    return new Promise((done, failed) => {
      this.#done = done;
      this.#failed = failed;
      this.#sink = sink;
      this.#next(sink);
    });
  }

  /** Wants no more of it. What has not come by now never does, and its connection is given up. */
  drop(): void {
    if (!this.#whole && this.#error === undefined) this.#cancel(new Error('no more is wanted'));
  }

  #next(sink: ChunkHandler): void {
    while (this.#error === undefined && this.#held.length && !this.#waits) {
      const chunk = this.#held.shift() as Buffer;
      this.#heldBytes -= chunk.length;
      this.#give(sink, chunk);
    }
    if (this.#error !== undefined) this.#failed(this.#error);
    else if (this.#waits) return;
    else if (this.#whole) this.#done();
    else this.#source.resume();
  }

  #give(sink: ChunkHandler, chunk: Buffer): void {
    try {
      const taking = sink(chunk);
      if (taking) this.#wait(sink, taking);
    } catch (error) {
      this.#cancel(error);
    }
  }

  #wait(sink: ChunkHandler, taking: Promise<void>): void {
    this.#waits = true;
    taking.then(
      () => {
        this.#waits = false;
        this.#next(sink);
      },
      (error: unknown) => this.#cancel(error),
    );
  }

  #cancel(error: unknown): void {
    this.fail(error);
    this.#held = [];
    if (!this.#whole) this.#source.abort(error as Error);
  }
}

/** What of an answer concerns its body. */
interface Bodied {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

const decoders = {
  gzip: 'createGunzip',
  'x-gzip': 'createGunzip',
  deflate: 'createInflate',
  br: 'createBrotliDecompress',
} as const;

/** Hands the body to the sink without its coding: nobody asked for one, but it may come all the same. */
export function streamBody({ headers, body }: Bodied, sink: ChunkHandler): Promise<void> {
  const coding = (headers['content-encoding'] ?? '').toLowerCase();
  return Object.hasOwn(decoders, coding)
    ? decode(body, coding as keyof typeof decoders, sink)
    : body.stream(sink);
}

async function decode(body: Body, coding: keyof typeof decoders, sink: ChunkHandler): Promise<void> {
  const zlib = await import('node:zlib');
  const decoder = zlib[decoders[coding]]();
  let empty = true;
  const write = (chunk: Buffer): Promise<void> => {
    empty = false;
    return new Promise((done, failed) => decoder.write(chunk, (error) => (error ? failed(error) : done())));
  };
  body.stream(write).then(
    // No body at all is not a broken one: a HEAD has none, whatever its headers say.
    () => (empty ? decoder.push(null) : decoder.end()),
    (error) => decoder.destroy(error),
  );
  for await (const chunk of decoder) await sink(chunk as Buffer);
}

const enough = new Error('enough');

/** The beginning of a text of any length. */
export async function readStart(response: Bodied, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    await streamBody(response, (chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= limit) throw enough;
    });
  } catch {
    // What came before it broke off may still say something.
  }
  return Buffer.concat(chunks).toString('utf8', 0, limit);
}

export const readText = async (response: Bodied, limit: number): Promise<string> =>
  (await readBytes(response, limit)).toString('utf8');

export async function readBytes(response: Bodied, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  await streamBody(response, (chunk) => {
    size += chunk.length;
    if (size > limit) throw new StenoError('failed', `the answer is larger than ${limit / 1024 / 1024} MB`);
    chunks.push(chunk);
  });
  return Buffer.concat(chunks);
}
