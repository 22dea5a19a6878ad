/** A service below HTTP that reads requests well and answers them with one fault. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { onFileEnd } from './test-end.ts';

export interface FaultyRequest {
  readonly method: string;
  readonly path: string;
  /** The key that it was sent, so that a fault can send it back. */
  readonly key: string;
}

/** The answer without a fault. */
export interface Good {
  readonly type: string;
  readonly body: Buffer;
}

/** A request that was read as a whole, and the means to answer it. */
export interface Turn {
  readonly socket: Socket;
  readonly request: FaultyRequest;
  readonly good: Good;
  /** Counts the requests of this connection, from 1. */
  readonly nth: number;
}

export interface Fault {
  readonly name: string;
  /** Answers a request. */
  readonly serve: (turn: Turn) => void | Promise<void>;
  /** Does something to a connection before anything is read from it. */
  readonly onConnect?: (socket: Socket) => void;
  /** Nothing listens there. */
  readonly refuses?: boolean;
}

export const noFault: Fault = {
  name: 'no fault',
  serve: ({ socket, good }) => void socket.write(whole(good)),
};

/** A response as bytes, with its length. */
export function response(
  status: number | string,
  headers: Readonly<Record<string, string>>,
  body: Buffer | string = '',
): Buffer {
  const bytes = Buffer.from(body);
  const lines = Object.entries({ ...headers, 'content-length': String(bytes.length) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${head}\r\n`, 'latin1'), bytes]);
}

export const whole = ({ type, body }: Good): Buffer => response('200 OK', { 'content-type': type }, body);

export class FaultProxy {
  /** Every request that was read as a whole. */
  readonly requests: FaultyRequest[] = [];
  #fault = noFault;
  /** Which requests meet the fault. */
  #target = /^/;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  private constructor() {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
      if (this.#fault.onConnect) this.#fault.onConnect(socket);
      else this.#read(socket);
    });
  }

  static async start(): Promise<FaultProxy> {
    const proxy = new FaultProxy();
    await proxy.#listen();
    proxies.push(proxy);
    return proxy;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#port}/API4`;
  }

  /** From now on requests whose path matches meet this fault, and all others a good answer. */
  async inject(fault: Fault, target: RegExp): Promise<void> {
    this.#dropConnections();
    this.requests.length = 0;
    this.#fault = fault;
    this.#target = target;
    if (fault.refuses) await this.#stop();
    else await this.#listen();
  }

  async close(): Promise<void> {
    this.#dropConnections();
    await this.#stop();
  }

  async #listen(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async #stop(): Promise<void> {
    if (this.#server.listening) await new Promise((done) => this.#server.close(done));
  }

  #dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #read(socket: Socket): void {
    let text = '';
    let nth = 0;
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n') + 4;
      const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, end))?.[1] ?? 0);
      if (end < 4 || text.length < end + length) return;
      const request = requestIn(text, text.slice(end, end + length));
      text = '';
      nth += 1;
      this.requests.push(request);
      const { serve } = this.#target.test(request.path) ? this.#fault : noFault;
      void serve({ socket, request, good: goodAnswer(request.path), nth });
    });
  }
}

function requestIn(text: string, body: string): FaultyRequest {
  const [method = '', target = ''] = text.split(' ', 2);
  const url = new URL(target, 'http://service');
  const inBody = /"api_key":("(?:[^"\\]|\\.)*")/.exec(body)?.[1];
  const key = inBody ? (JSON.parse(inBody) as string) : (url.searchParams.get('api_key') ?? '');
  return { method, path: url.pathname.replace(/^\/API4/, ''), key };
}

export const TRANSCRIPT = 'Ada: Hello.\nBob: Goodbye.\n';

const answers: ReadonlyArray<readonly [RegExp, object]> = [
  [/^\/order_url$/, { order: '0b0', audiofiles: [6], message: 'ordered' }],
  [/^\/audiofile\/5\/(upgrade|refund)$/, { message: 'done' }],
  [
    /^\/audiofile\/5$/,
    { audiofile: { id: 5, statename: 'Delivered', title: 'Talk' }, message: 'here it is' },
  ],
  [/^\/prepay_balance$/, { balance: '1.00', message: 'here it is' }],
  [/^\/invoice\/7$/, { id: 7, state: 'PAID', total: '1.00', items: [], message: 'here it is' }],
  [/^\/webhook/, { webhook: 'https://example.com/hook', message: 'here it is' }],
  [/^/, { message: 'here it is' }],
];

function goodAnswer(path: string): Good {
  if (/\/transcript\.\w+$/.test(path)) return { type: 'text/plain', body: Buffer.from(TRANSCRIPT) };
  const [, body] = answers.find(([route]) => route.test(path)) ?? [];
  return { type: 'application/json', body: Buffer.from(JSON.stringify(body)) };
}

const proxies: FaultProxy[] = [];

onFileEnd(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});
