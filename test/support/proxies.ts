/** What stands between a client and PostgreSQL: it cuts connections, delays them, or counts what passes. */
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Can be switched off: then it takes no connection, and those that are there end. */
export class Switch {
  protected readonly target: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isOn = true;

  protected constructor(target: number) {
    this.target = target;
    this.#server = createServer((client) => this.#serve(client));
  }

  static start(target: number): Promise<Switch> {
    return new Switch(target).listen();
  }

  protected async listen(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return this;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  /** The same database by way of this. */
  via(url: string): string {
    return url.replace(`:${this.target}/`, `:${this.port}/`);
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
    const server = connect(this.target, '127.0.0.1');
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
    }
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
    this.join(client, server);
  }

  /** Passes on what each of them sends. */
  protected join(client: Socket, server: Socket): void {
    client.pipe(server).pipe(client);
  }
}

/** Answers are held back until the client has sent nothing for so long: what does not wait for them is sent before. */
const SILENCE_MS = 100;

/** Counts round trips: how often the client waits for an answer. */
export class CountingProxy extends Switch {
  /** Those with statements: connecting and leaving do not count. */
  roundTrips = 0;

  static override start(target: number): Promise<CountingProxy> {
    return new CountingProxy(target).listen();
  }

  protected override join(client: Socket, server: Socket): void {
    let isAnswered = true;
    let answers: Buffer[] = [];
    const timer = setTimeout(() => {
      isAnswered ||= answers.length > 0;
      for (const chunk of answers) client.write(chunk);
      answers = [];
    }, SILENCE_MS);
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

/** As a network does: each way takes a while. Counts how often a client waited before it sent more. */
export class SlowProxy extends Switch {
  roundTrips = 0;
  readonly #delayMs: number;

  private constructor(target: number, delayMs: number) {
    super(target);
    this.#delayMs = delayMs;
  }

  /** `delayMs`: each way. */
  static override start(target: number, delayMs = 0): Promise<SlowProxy> {
    return new SlowProxy(target, delayMs).listen();
  }

  protected override join(client: Socket, server: Socket): void {
    let hasAnswer = true;
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const)
      from.on('data', (chunk) => {
        if (from === client && hasAnswer) this.roundTrips += 1;
        hasAnswer = from === server;
        setTimeout(() => to.writable && to.write(chunk), this.#delayMs);
      });
  }
}

/** `before`: the server never gets the statement. `after`: it does, and the client never gets the answer. */
export type Moment = 'before' | 'after';

export interface Cut {
  /** Counted from 0 over the statements of the first connection, its BEGIN and COMMIT included. */
  readonly statement: number;
  readonly moment: Moment;
  /** Whether later connections are refused. */
  readonly forGood: boolean;
}

/** Cuts the first connection at one statement. */
export class CuttingProxy extends Switch {
  /** The statements that the first connection has sent. */
  readonly texts: string[] = [];
  readonly #cut: Cut;
  #text = '';
  #connections = 0;

  private constructor(target: number, cut: Cut) {
    super(target);
    this.#cut = cut;
  }

  static override start(target: number, cut?: Cut): Promise<CuttingProxy> {
    return new CuttingProxy(target, cut ?? { statement: -1, moment: 'before', forGood: false }).listen();
  }

  protected override join(client: Socket, server: Socket): void {
    this.#connections += 1;
    const isFirst = this.#connections === 1;
    if (!isFirst && this.#cut.forGood) return void client.destroy();
    if (!isFirst) return void super.join(client, server);
    let swallows = false;
    server.on('data', (chunk) => {
      if (swallows) for (const socket of [client, server]) socket.destroy();
      else client.write(chunk);
    });
    const messages = new Messages();
    client.on('data', (chunk) => {
      for (const message of messages.add(chunk)) {
        if (swallows) return;
        const isCut = this.#add(message) === this.#cut.statement;
        if (isCut && this.#cut.moment === 'before') return void client.destroy();
        if (isCut) swallows = true;
        server.write(message);
      }
    });
  }

  /** The number of the statement that the message ends; undefined if it ends none. */
  #add(message: Buffer): number | undefined {
    const type = message[0] ?? 0;
    if (type === PARSE) this.#text = textOf(message);
    if (!STATEMENT_ENDS.includes(type)) return undefined;
    this.texts.push(this.#text || textOf(message));
    this.#text = '';
    return this.texts.length - 1;
  }
}

/** The messages that end a statement: of one with values, and of one without. */
const STATEMENT_ENDS = [0x53, 0x51];

/** The message that has the text of a statement with values. */
const PARSE = 0x50;

/** After the type and the length; that of PARSE is preceded by an empty name. */
const textOf = (message: Buffer): string =>
  message.subarray(5).toString('latin1').replace(/^\0/, '').split('\0', 1)[0] ?? '';

/** Splits what a client sends into messages; the first one has no type. */
class Messages {
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
