/** Stands between a client and PostgreSQL, and counts round trips: how often the client waits for an answer. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Messages, STATEMENT_ENDS } from './cutting-proxy.ts';

/** Answers are held back until the client has sent nothing for so long: what does not wait for them is sent before. */
const SILENCE_MS = 100;

export class CountingProxy {
  /** Those with statements: connecting and leaving do not count. */
  roundTrips = 0;
  connections = 0;
  readonly #target: number;
  readonly #silenceMs: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: number, silenceMs: number) {
    this.#target = target;
    this.#silenceMs = silenceMs;
    this.#server = createServer((client) => this.#serve(client));
  }

  static async start(target: number, silenceMs = SILENCE_MS): Promise<CountingProxy> {
    const proxy = new CountingProxy(target, silenceMs);
    await new Promise<void>((done) => proxy.#server.listen(0, '127.0.0.1', done));
    return proxy;
  }

  /** The same database by way of the proxy. */
  via(url: string): string {
    const address = this.#server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    return url.replace(`:${this.#target}/`, `:${port}/`);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }

  #serve(client: Socket): void {
    this.connections += 1;
    const server = connect(this.#target, '127.0.0.1');
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
    }
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
    let isAnswered = true;
    let answers: Buffer[] = [];
    const timer = setTimeout(() => {
      isAnswered ||= answers.length > 0;
      for (const chunk of answers) client.write(chunk);
      answers = [];
    }, this.#silenceMs);
    client.on('close', () => clearTimeout(timer));
    server.on('data', (chunk) => {
      answers.push(chunk);
      timer.refresh();
    });
    const messages = new Messages();
    client.on('data', (chunk) => {
      const hasStatement = messages.add(chunk).some(([type = 0]) => STATEMENT_ENDS.includes(type));
      if (hasStatement && isAnswered) {
        isAnswered = false;
        this.roundTrips += 1;
      }
      server.write(chunk);
      timer.refresh();
    });
  }
}
