/**
 * Reads bodies within one bound for all of them together, finished or not: a stranger chooses how many there are, how
 * large they get and in what pieces they come.
 */

export const MAX_BODY_BYTES = 1024 * 1024;
/** Of all requests, from their headers until they are kept. */
const MAX_TOTAL_BYTES = 64 * MAX_BODY_BYTES;
/** What a request takes beside its body: headers, and what Node has for each request and connection. */
const REQUEST_BYTES = 2048;
/** The first buffer that chunks are copied into. */
const MIN_BUFFER_BYTES = 4096;
/** Each chunk costs time, so that one-byte chunks cost a thousand times what their bytes do. */
const FREE_CHUNKS = 1_000;
const MIN_BYTES_A_CHUNK = 64;

/** Why a body is not read to its end. */
export type BodyFault = 'tooLarge' | 'tooManyChunks' | 'noRoom';

export class Bodies {
  readonly #unfinished = new Set<Body>();
  #bytes = 0;

  begin(body: Body): void {
    this.#unfinished.add(body);
    this.reserve(body, REQUEST_BYTES);
  }

  /** Makes room for more of a body; false if there is none, and the body has been given up. */
  reserve(body: Body, bytes: number): boolean {
    this.#bytes += bytes;
    body.reserved += bytes;
    while (this.#bytes > MAX_TOTAL_BYTES && this.#unfinished.has(body)) this.#largest().fail('noRoom');
    return this.#unfinished.has(body);
  }

  /** A body that has come whole is never given up. */
  finish(body: Body): void {
    this.#unfinished.delete(body);
  }

  release(body: Body): void {
    this.#unfinished.delete(body);
    this.#bytes -= body.reserved;
    body.reserved = 0;
  }

  /** It gives way first: events are small, and many small bodies can't take the room. Of equals, the oldest. */
  #largest(): Body {
    let largest: Body | undefined;
    for (const body of this.#unfinished) if (!largest || body.reserved > largest.reserved) largest = body;
    return largest as Body;
  }
}

export class Body {
  readonly #bodies: Bodies;
  readonly #onFault: (fault: BodyFault) => void;
  /** Counted against the bound. */
  reserved = 0;
  #buffer: Buffer | undefined;
  #size = 0;
  #chunks = 0;

  /** `onFault` is called at most once; nothing may be added after it. */
  constructor(bodies: Bodies, onFault: (fault: BodyFault) => void) {
    this.#bodies = bodies;
    this.#onFault = onFault;
  }

  begin(): void {
    this.#bodies.begin(this);
  }

  add(chunk: Buffer): void {
    this.#chunks += 1;
    const size = this.#size + chunk.length;
    if (size > MAX_BODY_BYTES) this.fail('tooLarge');
    else if (this.#chunks > FREE_CHUNKS && size < this.#chunks * MIN_BYTES_A_CHUNK)
      this.fail('tooManyChunks');
    else if (!this.#buffer) this.#takeFirst(chunk);
    else if (size <= this.#buffer.length || this.#grow(size)) {
      chunk.copy(this.#buffer, this.#size);
      this.#size = size;
    }
  }

  /** Most bodies are one chunk, which needs no copy. */
  #takeFirst(chunk: Buffer): void {
    if (!this.#bodies.reserve(this, chunk.length)) return;
    this.#buffer = chunk;
    this.#size = chunk.length;
  }

  /** One buffer that doubles: a chunk held by itself takes some 200 bytes beside its own. */
  #grow(size: number): boolean {
    const before = this.#buffer?.length ?? 0;
    const length = Math.min(MAX_BODY_BYTES, Math.max(2 * before, size, MIN_BUFFER_BYTES));
    if (!this.#bodies.reserve(this, length - before)) return false;
    const larger = Buffer.allocUnsafeSlow(length);
    this.#buffer?.copy(larger, 0, 0, this.#size);
    this.#buffer = larger;
    return true;
  }

  /** All of it has come; it counts until it is released. */
  finish(): Buffer {
    this.#bodies.finish(this);
    return this.#buffer?.subarray(0, this.#size) ?? Buffer.alloc(0);
  }

  /** Has no effect a second time. */
  release(): void {
    this.#buffer = undefined;
    this.#bodies.release(this);
  }

  fail(fault: BodyFault): void {
    this.release();
    this.#onFault(fault);
  }
}
