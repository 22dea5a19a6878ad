/**
 * Finds where the response begins. A service may send informational heads (1xx) before it, also without being asked;
 * undici ends the connection at a 100, and at a status below 100 it fails an assertion of its own.
 */
import { NotHttpError } from './network-errors.ts';

/** What a status line begins with; a partial one is completed with it, so that it is judged by the bytes that came. */
const SAMPLE = 'HTTP/1.1 200 ';
const statusLine = /^HTTP\/(?:0\.9|1\.[01]|2\.0) ([1-9]\d\d)[ \r\n]/;

const [LF, CR] = [10, 13];
const TLS_RECORD_TYPES = new Set([0x14, 0x15, 0x16, 0x17]);

const nothing = Buffer.alloc(0);

export class ResponseHead {
  #held: Buffer = nothing;
  /** Inside an informational head. */
  #skipping = false;

  /** Takes what came; returns the bytes from the status line of the response on, once that has come. */
  take(chunk: Buffer): Buffer | undefined {
    let bytes = this.#held.length ? Buffer.concat([this.#held, chunk]) : chunk;
    for (;;) {
      if (this.#skipping) bytes = this.#skip(bytes);
      if (this.#skipping) break;
      bytes = withoutBlankLines(bytes);
      const status = statusIn(bytes);
      if (bytes.length < SAMPLE.length) break;
      if (status >= 200) return bytes;
      this.#skipping = true;
    }
    this.#held = bytes;
    return undefined;
  }

  /** What follows the head; while its end has not come, the bytes that may be a part of that end. */
  #skip(bytes: Buffer): Buffer {
    for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
      const end = at + (bytes[at + 1] === CR ? 2 : 1);
      if (bytes[end] !== LF) continue;
      this.#skipping = false;
      return bytes.subarray(end + 1);
    }
    return bytes.subarray(-2);
  }
}

function statusIn(bytes: Buffer): number {
  const start = bytes.toString('latin1', 0, SAMPLE.length);
  // Speed: so begins nearly every response.
  if (start === SAMPLE) return 200;
  const [, status] = statusLine.exec(start + SAMPLE.slice(start.length)) ?? [];
  if (status === undefined) throw new NotHttpError(TLS_RECORD_TYPES.has(bytes[0] ?? 0));
  return Number(status);
}

function withoutBlankLines(bytes: Buffer): Buffer {
  let start = 0;
  while (bytes[start] === CR || bytes[start] === LF) start += 1;
  return start === 0 ? bytes : bytes.subarray(start);
}
