/** Stands between a client and PostgreSQL, and cuts the connection at one statement. */
import { connect, createServer, type Server, type Socket } from 'node:net';

/** `before`: the server never gets the statement. `after`: it does, and the client never gets the answer. */
export type Moment = 'before' | 'after';

export interface Cut {
  /** Counted from 0 over the statements of the first connection, its BEGIN and COMMIT included. */
  readonly statement: number;
  readonly moment: Moment;
  /** Whether later connections are refused. */
  readonly forGood: boolean;
}

/** The messages that end a statement: of one with values, and of one without. */
export const STATEMENT_ENDS = [0x53, 0x51];

/** The message that has the text of a statement with values. */
const PARSE = 0x50;

/** After the type and the length; that of PARSE is preceded by an empty name. */
const textOf = (message: Buffer): string =>
  message.subarray(5).toString('latin1').replace(/^\0/, '').split('\0', 1)[0] ?? '';

export class CuttingProxy {
  readonly #statements = new Statements();
  readonly #target: number;
  readonly #cut: Cut;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #connections = 0;

  private constructor(target: number, cut: Cut) {
    this.#target = target;
    this.#cut = cut;
    this.#server = createServer((client) => this.#serve(client));
  }

  static async start(target: number, cut: Cut): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target, cut);
    await new Promise<void>((done) => proxy.#server.listen(0, '127.0.0.1', done));
    return proxy;
  }

  /** The statements that the first connection has sent. */
  get texts(): readonly string[] {
    return this.#statements.texts;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }

  #serve(client: Socket): void {
    this.#connections += 1;
    const isFirst = this.#connections === 1;
    const server = connect(this.#target, '127.0.0.1');
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
    }
    if (!isFirst && this.#cut.forGood) return void client.destroy();
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
    if (!isFirst) return void client.pipe(server).pipe(client);
    let swallows = false;
    server.on('data', (chunk) => {
      if (swallows) for (const socket of [client, server]) socket.destroy();
      else client.write(chunk);
    });
    const messages = new Messages();
    client.on('data', (chunk) => {
      for (const message of messages.add(chunk)) {
        if (swallows) return;
        const isCut = this.#statements.add(message) === this.#cut.statement;
        if (isCut && this.#cut.moment === 'before') return void client.destroy();
        if (isCut) swallows = true;
        server.write(message);
      }
    });
  }
}

/** Finds the statements in messages. */
class Statements {
  readonly texts: string[] = [];
  #text = '';

  /** The number of the statement that the message ends; undefined if it ends none. */
  add(message: Buffer): number | undefined {
    const type = message[0] ?? 0;
    if (type === PARSE) this.#text = textOf(message);
    if (!STATEMENT_ENDS.includes(type)) return undefined;
    this.texts.push(this.#text || textOf(message));
    this.#text = '';
    return this.texts.length - 1;
  }
}

/** Splits what a client sends into messages; the first one has no type. */
export class Messages {
  #rest: Buffer = Buffer.alloc(0);
  #isStart = true;

  add(chunk: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const found: Buffer[] = [];
    for (;;) {
      const header = this.#isStart ? 0 : 1;
      if (this.#rest.length < header + 4) return found;
      const length = header + this.#rest.readUInt32BE(header);
      if (this.#rest.length < length) return found;
      found.push(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
      this.#isStart = false;
    }
  }
}
