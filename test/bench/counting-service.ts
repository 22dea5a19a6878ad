/** A service in the benchmark's own process, which counts calls and connections and does as a row needs it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export type Handler = (response: ServerResponse) => void;

export interface CountedCall {
  /** By `performance.now()`. */
  readonly at: number;
  /** The file that it is about; empty where it is about none. */
  readonly file: string;
}

const transcript = /^\/API4\/audiofile\/\d+\/transcript\./;
const file = /^\/API4\/audiofile\/(\d+)\b/;

export class CountingService {
  readonly calls: CountedCall[] = [];
  /** Whether a file is delivered; else it is under way. */
  isDelivered: (id: string) => boolean = () => false;
  /** Answers in place of all that follows, where it is set. */
  handler: Handler | undefined;
  maxConnections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #lastId = 50_000_000;

  private constructor() {
    this.#server = createServer((request, response) => this.#take(request, response));
    this.#server.keepAliveTimeout = 600_000;
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      this.maxConnections = Math.max(this.maxConnections, this.#sockets.size);
      // A client that breaks off is no trouble of the service.
      socket.on('error', () => {});
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static start(): Promise<CountingService> {
    const service = new CountingService();
    return new Promise((done) => service.#server.listen(0, '127.0.0.1', () => done(service)));
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/API4`;
  }

  /** From then on its port refuses connections. */
  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((done) => this.#server.close(() => done()));
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    let body = '';
    request.setEncoding('latin1').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const path = request.url ?? '';
      this.calls.push({ at: performance.now(), file: file.exec(path)?.[1] ?? '' });
      if (this.handler) this.handler(response);
      else this.#answer(path, body, response);
    });
  }

  #answer(path: string, body: string, response: ServerResponse): void {
    const id = file.exec(path)?.[1];
    if (transcript.test(path))
      response.writeHead(200, { 'content-type': 'text/plain' }).end('Speaker 1: A line.\n');
    else if (id !== undefined) send(response, { audiofile: this.#file(id), message: 'ok' });
    else if (path.startsWith('/API4/order_url')) send(response, this.#order(body));
    else send(response, { message: 'no such thing' }, 404);
  }

  #file(id: string): object {
    const statename = this.isDelivered(id) ? 'Delivered' : 'Transcribing';
    return { id: Number(id), statename, title: `Talk ${id}`, duration: '12', total: '9.00' };
  }

  #order(body: string): object {
    const { url = [] } = JSON.parse(body) as { url?: string | string[] };
    const audiofiles = [url].flat().map(() => {
      this.#lastId += 1;
      return this.#lastId;
    });
    return { order: `n${this.#lastId}`, audiofiles, message: 'ok' };
  }
}

function send(response: ServerResponse, body: object, status = 200): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
