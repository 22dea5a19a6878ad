/**
 * Reads bodies within one bound for all of them together, finished or not: a stranger chooses how many there are, how
 * large they get and in what pieces they come.
 */
import { countStreamedBytes, limitHeapGrowth } from '../lib/memory.ts';

export const MAX_BODY_BYTES = 1024 * 1024;
/** Of all requests, from their headers until they are kept. */
const MAX_TOTAL_BYTES = 64 * MAX_BODY_BYTES;
/** What a request takes beside its body: headers, and what Node has for each request and connection. */
const REQUEST_BYTES = 2048;
/**
 * Chunks are copied into blocks, which are used again: a chunk held by itself takes some 200 bytes beside its own, and
 * buffers of all sizes that are thrown away would lie in memory until V8 collects them. Blocks are made many at a time,
 * for between the chunks that come and go they would leave gaps: with blocks made one by one, a flood takes 50 MB more.
 */
const BLOCK_BYTES = 16 * 1024;
const BLOCKS_AT_ONCE = 64;
const MAX_FREE_BLOCKS = 512;
/** Each chunk costs time, so that one-byte chunks cost a thousand times what their bytes do. */
const FREE_CHUNKS = 1_000;
const MIN_BYTES_A_CHUNK = 64;

/** Why a body is not read to its end. */
export type BodyFault = 'tooLarge' | 'tooManyChunks' | 'noRoom';

export class Bodies {
  readonly #unfinished = new Set<Body>();
  #freeBlocks: Buffer[] = [];
  #usedBlocks = 0;
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

  takeBlock(): Buffer {
    if (this.#freeBlocks.length === 0) this.#addBlocks();
    this.#usedBlocks += 1;
    return this.#freeBlocks.pop() as Buffer;
  }

  #addBlocks(): void {
    // Only a stranger sends bodies that need them.
    limitHeapGrowth();
    const all = Buffer.allocUnsafeSlow(BLOCKS_AT_ONCE * BLOCK_BYTES);
    for (let at = 0; at < all.length; at += BLOCK_BYTES)
      this.#freeBlocks.push(all.subarray(at, at + BLOCK_BYTES));
  }

  freeBlocks(blocks: readonly Buffer[]): void {
    this.#freeBlocks.push(...blocks);
    this.#usedBlocks -= blocks.length;
    // Those that were made together can only be given back together.
    if (this.#usedBlocks === 0 && this.#freeBlocks.length > MAX_FREE_BLOCKS) this.#freeBlocks = [];
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
  /** The first chunk: most bodies have no other. */
  #first: Buffer | undefined;
  /** All chunks, once there are several. */
  #blocks: Buffer[] = [];
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
    else if (this.#chunks === 1) this.#takeFirst(chunk);
    else if (this.#makeRoom(size)) this.#copy(chunk);
  }

  #takeFirst(chunk: Buffer): void {
    if (!this.#bodies.reserve(this, chunk.length)) return;
    this.#first = chunk;
    this.#size = chunk.length;
  }

  #makeRoom(size: number): boolean {
    const missing = Math.ceil(size / BLOCK_BYTES) - this.#blocks.length;
    if (missing <= 0) return true;
    if (!this.#bodies.reserve(this, missing * BLOCK_BYTES)) return false;
    for (let each = 0; each < missing; each += 1) this.#blocks.push(this.#bodies.takeBlock());
    return true;
  }

  #copy(chunk: Buffer): void {
    const first = this.#first;
    if (first) {
      this.#first = undefined;
      this.#size = 0;
      this.#copy(first);
    }
    for (let from = 0; from < chunk.length; ) {
      const block = this.#blocks[Math.floor(this.#size / BLOCK_BYTES)] as Buffer;
      const copied = chunk.copy(block, this.#size % BLOCK_BYTES, from);
      from += copied;
      this.#size += copied;
    }
    countStreamedBytes(chunk.length);
  }

  /** All of it has come; it counts until it is released. */
  finish(): Buffer {
    this.#bodies.finish(this);
    const body = this.#first ?? Buffer.concat(this.#blocks, this.#size);
    this.#giveBackBlocks();
    return body;
  }

  /** Has no effect a second time. */
  release(): void {
    this.#first = undefined;
    this.#giveBackBlocks();
    this.#bodies.release(this);
  }

  fail(fault: BodyFault): void {
    this.release();
    this.#onFault(fault);
  }

  #giveBackBlocks(): void {
    this.#bodies.freeBlocks(this.#blocks);
    this.#blocks = [];
  }
}
