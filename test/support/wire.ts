/** A server below HTTP: it says when a connection opens, and does with it what a test wants. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { onFileEnd } from './test-end.ts';

/** What is done with a connection; a promise that rejects fails the test run. */
type Serve = (socket: Socket, wire: Wire) => unknown;

export class Wire {
  connections = 0;
  received = '';
  port = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(serve: Serve) {
    this.#server = createServer((socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
      void serve(socket, this);
    });
  }

  static async start(serve: Serve): Promise<Wire> {
    const wire = new Wire(serve);
    await new Promise<void>((done) => wire.#server.listen(0, '127.0.0.1', done));
    wire.port = (wire.#server.address() as AddressInfo).port;
    wires.push(wire);
    return wire;
  }

  /** Reads a whole request, then does this. */
  static afterRequest(serve: Serve): Promise<Wire> {
    return Wire.start((socket, wire) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        wire.received += chunk.toString('latin1');
        const [head = '', body] = text.split('\r\n\r\n', 2);
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        if (body !== undefined && body.length >= length) {
          text = '';
          void serve(socket, wire);
        }
      });
    });
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}/API4`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }
}

/** Sends bytes as they are and gives what comes back until the other side closes. */
export function sendRaw(port: number, text: string | Buffer, end = false): Promise<string> {
  return new Promise((done) => {
    let got = '';
    const socket = connect(port, '127.0.0.1', () => (end ? socket.end(text) : socket.write(text)));
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1');
    });
    socket.on('error', () => {}).on('close', () => done(got));
  });
}

/** The address of a server that is gone: nobody answers there. */
export async function deadAddress(): Promise<string> {
  const wire = await Wire.start(() => {});
  await wire.close();
  return wire.baseUrl;
}

const wires: Wire[] = [];

onFileEnd(async () => {
  await Promise.all(wires.splice(0).map((wire) => wire.close()));
});
