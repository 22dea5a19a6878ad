/** A service that answers as a test tells it to and remembers what it was sent. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll } from 'vitest';

export interface Got {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** The body as JSON, or undefined where it is none. */
  readonly body: Record<string, unknown> | undefined;
  readonly at: number;
}

export type Answer =
  | {
      readonly status?: number;
      readonly headers?: Record<string, string>;
      readonly body?: string | Buffer | object;
    }
  | ((got: Got, response: ServerResponse, socket: Socket) => void);

export class Service {
  readonly got: Got[] = [];
  readonly #answers = new Map<string, Answer[]>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #sockets = new Set<Socket>();

  static async start(): Promise<Service> {
    const service = new Service();
    service.#server.on('connection', (socket) => {
      service.#sockets.add(socket);
      socket.on('close', () => service.#sockets.delete(socket));
    });
    await new Promise<void>((done) => service.#server.listen(0, '127.0.0.1', done));
    services.push(service);
    return service;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get baseUrl(): string {
    return `${this.origin}/API4`;
  }

  /** Answers to a call, in turn; the last one is given again and again. */
  on(route: string, ...answers: Answer[]): this {
    this.#answers.set(route, answers);
    return this;
  }

  calls(route: string): Got[] {
    return this.got.filter((got) => `${got.method} ${got.path}` === route);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', 'http://service');
    const got = {
      method: request.method ?? '',
      path: url.pathname.replace(/^\/API4/, ''),
      query: url.searchParams,
      headers: request.headers,
      text: Buffer.concat(chunks).toString(),
      body: json(Buffer.concat(chunks).toString()),
      at: Date.now(),
    };
    this.got.push(got);
    const answers = this.#answers.get(`${got.method} ${got.path}`) ?? this.#answers.get('*') ?? [];
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (!answer)
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"no such thing"}');
    else if (typeof answer === 'function') answer(got, response, request.socket);
    else reply(response, answer);
  }
}

function reply(
  response: ServerResponse,
  { status = 200, headers = {}, body = '' }: Exclude<Answer, (...args: never) => void>,
): void {
  const raw = typeof body === 'string' || Buffer.isBuffer(body);
  response.writeHead(status, raw ? headers : { 'content-type': 'application/json', ...headers });
  response.end(raw ? body : JSON.stringify(body));
}

function json(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

const services: Service[] = [];

afterAll(async () => {
  await Promise.all(services.splice(0).map((service) => service.close()));
});
