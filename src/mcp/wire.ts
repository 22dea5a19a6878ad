/** The connection to the client. Requests sent before stdin closes are still answered, so `printf … | steno mcp` works. */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

/** A larger message ends the connection. */
const MAX_MESSAGE = 16 * 1024 * 1024;
/** How long the last answers may take. */
const LAST_ANSWERS_MS = 10_000;

export class Wire extends StdioServerTransport {
  readonly #input: PassThrough;
  /** Requests from the client that are not answered yet. */
  readonly #open = new Set<unknown>();
  /** Requests to the client, which it can't answer once it has closed stdin. */
  readonly #asked = new Set<unknown>();
  #isLast = false;

  constructor(stdin: Readable, stdout: Writable) {
    const input = new PassThrough();
    super(input, stdout, { maxBufferSize: MAX_MESSAGE });
    this.#input = input;
    stdin.on('error', (error) => input.destroy(error));
    stdin.on('end', () => {
      this.#isLast = true;
      setTimeout(() => input.end(), LAST_ANSWERS_MS).unref();
      // Only after everything received so far was read.
      input.write('', () => setImmediate(() => this.#endIfDone()));
    });
    stdin.pipe(input, { end: false });
  }

  /** Keeps track of requests on their way to the server; to be called once it listens. */
  watch(): void {
    const { onmessage } = this;
    this.onmessage = (message: JSONRPCMessage, ...more: unknown[]) => {
      if (!('method' in message)) this.#asked.delete(message.id);
      else if ('id' in message) this.#open.add(message.id);
      else if (message.method === 'notifications/cancelled')
        this.#open.delete((message.params as { requestId?: unknown } | undefined)?.requestId);
      (onmessage as ((...args: unknown[]) => void) | undefined)?.(message, ...more);
    };
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    try {
      await super.send(message);
    } finally {
      if (!('method' in message)) this.#open.delete(message.id);
      else if ('id' in message) this.#asked.add(message.id);
      this.#endIfDone();
    }
  }

  #endIfDone(): void {
    if (this.#isLast && (this.#asked.size > 0 || this.#open.size === 0)) this.#input.end();
  }
}
