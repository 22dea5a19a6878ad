/** A service that answers as a test tells it to and remembers what it was sent. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { wantedSlice } from './slices.ts';
import { onFileEnd, onTestEnd } from './test-end.ts';

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

/** Answers to one route, and where in a test they were given. */
interface Stub {
  readonly route: string;
  readonly answers: readonly Answer[];
  readonly use: 'required' | 'optional' | 'forbidden';
  readonly line: string;
  calls: number;
}

export class Service {
  readonly got: Got[] = [];
  /** The most connections that were open at a time. */
  maxConnections = 0;
  /** In the order of registration; for a route that has several, the last one answers. */
  readonly #stubs: Stub[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #sockets = new Set<Socket>();

  static async start(): Promise<Service> {
    const service = new Service();
    service.#server.on('connection', (socket) => {
      service.#sockets.add(socket);
      service.maxConnections = Math.max(service.maxConnections, service.#sockets.size);
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

  /** Answers to a route (or to `*`: all others), in turn; the last one repeats. Each must be given at least once. */
  on(route: string, ...answers: Answer[]): this {
    return this.#add({ route, answers, use: 'required' });
  }

  /** The same for a whole imitation of the service, of which a test uses what it needs. */
  allow(route: string, ...answers: Answer[]): this {
    return this.#add({ route, answers, use: 'optional' });
  }

  /** Fails the file if this is called. It answers all the same, so that a wrong call goes as far as it can. */
  never(route: string, answer: Answer = {}): this {
    return this.#add({ route, answers: [answer], use: 'forbidden' });
  }

  #add(stub: Omit<Stub, 'line' | 'calls'>): this {
    this.#stubs.push({ ...stub, line: callingLine(), calls: 0 });
    return this;
  }

  /** What a test expected of this service and did not get, one line each. */
  complaints(): string[] {
    return this.#stubs.flatMap(({ line, ...stub }) => complaintOf(stub).map((text) => `${line} ${text}`));
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
    const answer = this.#next(`${got.method} ${got.path}`);
    if (!answer)
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"no such thing"}');
    else if (typeof answer === 'function') answer(got, response, request.socket);
    else reply(response, answer);
  }

  #next(route: string): Answer | undefined {
    const stub = this.#stubs.findLast((each) => each.route === route) ?? this.#stubs.findLast(isForAll);
    if (!stub) return undefined;
    stub.calls += 1;
    return stub.answers[Math.min(stub.calls, stub.answers.length) - 1];
  }
}

/** What is wrong with the calls of one stub; empty if nothing is. */
export function complaintOf({ route, answers, use, calls }: Omit<Stub, 'line'>): string[] {
  if (use === 'forbidden') return calls ? [`${route} was called, and must never be`] : [];
  // The tests that call it may be in another slice.
  if (use === 'optional' || wantedSlice || calls >= answers.length) return [];
  return [`${route} ${calls ? `gave only ${calls} of its ${answers.length} answers` : 'was never called'}`];
}

const isForAll = ({ route }: Stub): boolean => route === '*';

/** The line of the test that registered a stub, as `test/x.test.ts:12`. */
function callingLine(): string {
  const [, path = 'a test'] = /((?:test|src)\/[^\s():]*\.test\.ts:\d+)/.exec(new Error().stack ?? '') ?? [];
  return path;
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

let anyFailed = false;

onTestEnd(({ task }) => {
  anyFailed ||= task.result?.state === 'fail';
});

onFileEnd(async () => {
  const all = services.splice(0);
  await Promise.all(all.map((service) => service.close()));
  // A test that failed stopped before it used its stubs: its own error is the one to read.
  const hasFailed = anyFailed;
  anyFailed = false;
  if (hasFailed) return;
  const complaints = new Set(all.flatMap((service) => service.complaints()));
  if (complaints.size) throw new Error(`stubs of the test service:\n${[...complaints].join('\n')}`);
});
