/** Stands between a client and PostgreSQL as a network does: each way takes a while. Counts the round trips. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export class SlowProxy {
  /** How often a client waited for an answer before it sent more, over all connections. */
  roundTrips = 0;
  /** False: there is no way to the server. */
  isOpen = true;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: number, delayMs: number) {
    this.#server = createServer((client) => {
      if (!this.isOpen) return void client.destroy();
      const server = connect(target, '127.0.0.1');
      let hasAnswer = true;
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(from);
        from.on('error', () => {}).on('close', () => to.destroy());
        from.on('data', (chunk) => {
          if (from === client && hasAnswer) this.roundTrips += 1;
          hasAnswer = from === server;
          setTimeout(() => to.writable && to.write(chunk), delayMs);
        });
      }
    });
  }

  /** `delayMs`: each way. */
  static async start(target: number, delayMs: number): Promise<SlowProxy> {
    const proxy = new SlowProxy(target, delayMs);
    await new Promise<void>((done) => proxy.#server.listen(0, '127.0.0.1', done));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }
}
