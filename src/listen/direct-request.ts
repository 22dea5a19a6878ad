import { IncomingMessage } from 'node:http';

/** Gets the body of a request as it comes off the wire. */
export interface BodyReader {
  readonly onChunk: (chunk: Buffer) => void;
  /** All of it has come. */
  readonly onEnd: () => void;
  /** The connection was closed before its end. */
  readonly onAbort: () => void;
}

/**
 * A request whose body goes to a reader without a stream in between. Speed: that saves 4 of the 18 µs of processor time
 * that node:http takes for an event. Without a reader it is a stream as any other. To take it out, listen to 'data',
 * 'end' and 'close'.
 */
export class DirectRequest extends IncomingMessage {
  #reader: BodyReader | undefined;

  /** To be called at once, before the first chunk comes. */
  readInto(reader: BodyReader): void {
    this.#reader = reader;
    // Without this, node:http takes the body for one that nothing reads, and reads it itself.
    this._read(0);
  }

  /** From now on the rest of the body is that of a stream. */
  stopReader(): void {
    this.#reader = undefined;
  }

  /** The HTTP parser calls it with each chunk, and with null at the end. */
  override push(chunk: Buffer | null): boolean {
    const reader = this.#reader;
    if (!reader) return super.push(chunk);
    if (chunk) {
      reader.onChunk(chunk);
    } else {
      this.#reader = undefined;
      reader.onEnd();
    }
    return true;
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const reader = this.#reader;
    this.#reader = undefined;
    super._destroy(error, done);
    reader?.onAbort();
  }
}
