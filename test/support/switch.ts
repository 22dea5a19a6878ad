/** Stands between a client and a server, and can be switched off: then it takes no connection, and those that are there end. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export class Switch {
  readonly #target: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isOn = true;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#serve(client));
  }

  static async start(target: number): Promise<Switch> {
    const created = new Switch(target);
    await new Promise<void>((done) => created.#server.listen(0, '127.0.0.1', done));
    return created;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  on(): void {
    this.#isOn = true;
  }

  off(): void {
    this.#isOn = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** As a host that vanishes: connections stay, and nothing comes through any more. */
  freeze(): void {
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  async stop(): Promise<void> {
    this.off();
    await new Promise((done) => this.#server.close(done));
  }

  #serve(client: Socket): void {
    if (!this.#isOn) return void client.destroy();
    const server = connect(this.#target, '127.0.0.1');
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
    }
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
    client.pipe(server).pipe(client);
  }
}
