/** The HTTP server of the receiver: takes deliveries at one path, and answers each after it was kept. */

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { startListening } from '../lib/listening.ts';
import { nowMs } from '../lib/time.ts';
import { type OnError, startTimer } from './background.ts';
import { DirectRequest } from './direct-request.ts';
import { Bodies, Body, ConnectionLimit, MAX_BODY_BYTES } from './request-limits.ts';

export interface Delivery {
  readonly body: Buffer;
  readonly contentType: string;
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly remote: string;
  /** The listeners that it has passed on its way here. */
  readonly via: string;
}

export interface ReceiverOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly accepts: (path: string) => boolean;
  /** Resolves when the delivery is on disk, rejects if it can't be kept. */
  readonly keep: (delivery: Delivery) => Promise<void>;
  readonly onError: OnError;
}

export interface Receiver {
  /** Its address, without a path. */
  readonly origin: string;
  readonly port: number;
  /** Takes no more connections, and answers the requests that are under way. */
  close(): Promise<void>;
}

const FORM = 'application/x-www-form-urlencoded';
/** What is kept is also answered, on a slow disk too. */
const CLOSE_TIMEOUT_MS = 6_000;
const DRAIN_MS = 1_000;

const serverOptions = {
  IncomingMessage: DirectRequest,
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
};

export async function openReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { tls, onError } = options;
  const handler = new RequestHandler(options);
  const server = await makeServer(options, handler.onRequest);
  // Node would answer 417 to an expectation that it does not know; a sender loses nothing if it is not met.
  server.on('checkExpectation', handler.onRequest);
  server.on('connection', (socket: Socket) => handler.connections.add(socket));
  // A sender may close its side once it has sent all: it still gets its answer. @types/node does not know the property.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('clientError', (error, socket: Socket) =>
    handler.whenAnswered(socket, () => refuseSocket(error, socket, onError)),
  );
  // Node closes the connection of a CONNECT by itself, without an answer.
  server.on('connect', (_, socket: Socket) => {
    socket.on('error', () => {}).resume();
    endSocket(socket, '405 Method Not Allowed\r\nallow: POST', onError);
  });
  await startListening(server, options.host, options.port);
  const { address, family, port } = server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  return { origin: `${tls ? 'https' : 'http'}://${host}:${port}`, port, close: () => handler.close(server) };
}

type Response = ServerResponse<DirectRequest>;
type OnRequest = (request: DirectRequest, response: Response) => void;
type HttpServer = Server<typeof DirectRequest>;

async function makeServer({ tls }: ReceiverOptions, onRequest: OnRequest): Promise<HttpServer> {
  if (!tls) return createServer(serverOptions, onRequest);
  const https = await import('node:https');
  try {
    return https.createServer({ ...serverOptions, ...tls, handshakeTimeout: 10_000 }, onRequest);
  } catch (error) {
    throw new StenoError('usage', `can't use --tls-cert and --tls-key: ${errorMessage(error)}`);
  }
}

interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** For how long the rest of the request is read: some clients read the response only when they have sent it all. */
  readonly drainMs?: number;
}

const refusals = {
  notFound: { status: 404, text: 'no events are received here' },
  notPost: { status: 405, text: 'only POST', headers: { allow: 'POST' } },
  notForm: { status: 415, text: `only ${FORM}` },
  fromPage: { status: 403, text: 'not from a web page' },
  ownForward: { status: 409, text: 'steno forwarded this delivery itself' },
  tooLarge: { status: 413, text: 'larger than 1 MiB' },
  // Reading on would cost more than the answer is worth.
  tooManyChunks: { status: 400, text: 'too many small chunks', drainMs: 0 },
  noRoom: { status: 503, text: 'too much at once' },
} as const satisfies Record<string, Refusal>;

/** What a connection has under way: a client may send requests before the answers to earlier ones. */
interface Exchanges {
  /** Deliveries that are being kept. */
  keeping: number;
  latest?: Response;
  latestKept?: Response;
  /** An answer says that the connection closes: nothing is read after it. */
  isClosed: boolean;
  onAnswered?: () => void;
}

class RequestHandler {
  readonly connections = new ConnectionLimit();
  readonly #exchanges = new WeakMap<Socket, Exchanges>();
  readonly #bodies = new Bodies();
  readonly #options: ReceiverOptions;
  #isClosing = false;

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  readonly onRequest: OnRequest = (request, response) => {
    const exchanges = this.#exchangesOf(request.socket);
    if (exchanges.isClosed) return;
    exchanges.latest = response;
    const { method, url = '' } = request;
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    if (path === '/healthz' && (method === 'GET' || method === 'HEAD'))
      return void respond(response, 200, 'ok');
    const refusal = this.#checkRequest(request, path);
    if (refusal) this.#refuse(request, response, refusal);
    else this.#readBody(request, response);
  };

  #checkRequest({ method, headers }: IncomingMessage, path: string): Refusal | undefined {
    if (!this.#options.accepts(path)) return refusals.notFound;
    if (method !== 'POST') return refusals.notPost;
    if (!isForm(headers)) return refusals.notForm;
    if (isFromPage(headers)) return refusals.fromPage;
    if (readVia(headers[LISTENER_HEADER]) === undefined) return refusals.ownForward;
    if (Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES) return refusals.tooLarge;
    return undefined;
  }

  #readBody(request: DirectRequest, response: Response): void {
    request.readInto({
      onChunk: (chunk) => body.add(chunk),
      onEnd: () => this.#keep(request, response, body),
      onAbort: () => body.release(),
    });
    const body = new Body(this.#bodies, (fault) => {
      request.stopReader();
      this.#refuse(request, response, refusals[fault]);
    });
  }

  /** What was kept gets its answer before the connection is closed. */
  whenAnswered(socket: Socket, close: () => void): void {
    const exchanges = this.#exchangesOf(socket);
    const { keeping, latestKept, isClosed } = exchanges;
    // An answer is on its way that closes it.
    if (isClosed || latestKept?.shouldKeepAlive === false) return;
    exchanges.isClosed = keeping === 0;
    if (keeping > 0) exchanges.onAnswered = close;
    else if (latestKept && !latestKept.writableFinished && !socket.destroyed)
      latestKept.once('finish', close);
    else close();
  }

  #exchangesOf(socket: Socket): Exchanges {
    const known = this.#exchanges.get(socket);
    if (known) return known;
    const exchanges = { keeping: 0, isClosed: false };
    this.#exchanges.set(socket, exchanges);
    return exchanges;
  }

  #refuse(request: DirectRequest, response: Response, refusal: Refusal): void {
    this.#exchangesOf(request.socket).isClosed = true;
    refuse(request, response, refusal, this.#options.onError);
  }

  #keep({ socket, headers }: DirectRequest, response: Response, body: Body): void {
    const exchanges = this.#exchangesOf(socket);
    exchanges.keeping += 1;
    exchanges.latestKept = response;
    this.connections.setBusy(socket);
    const delivery = {
      body: body.finish(),
      contentType: headers['content-type'] ?? '',
      receivedAt: new Date(nowMs()).toISOString(),
      remote: socket.remoteAddress ?? '',
      via: readVia(headers[LISTENER_HEADER]) ?? '',
    };
    const answer = (isKept: boolean): void => {
      body.release();
      this.connections.setIdle(socket, isKept);
      // The next delivery over the same connection would come after the end.
      if (this.#isClosing && exchanges.latest === response) {
        response.shouldKeepAlive = false;
        exchanges.isClosed = true;
      }
      // Without a body it is a single write.
      if (isKept) response.end();
      else respond(response, 503, 'it could not be saved');
      exchanges.keeping -= 1;
      if (exchanges.keeping === 0 && exchanges.onAnswered) this.whenAnswered(socket, exchanges.onAnswered);
    };
    this.#options.keep(delivery).then(
      () => answer(true),
      () => answer(false),
    );
  }

  close(server: Server): Promise<void> {
    this.#isClosing = true;
    return new Promise((resolve) => {
      const cancel = startTimer(CLOSE_TIMEOUT_MS, () => server.closeAllConnections(), this.#options.onError);
      server.close(() => {
        cancel();
        resolve();
      });
      server.closeIdleConnections();
    });
  }
}

function isForm({
  'content-type': type = '',
  'content-encoding': encoding,
}: IncomingMessage['headers']): boolean {
  if (encoding !== undefined && encoding !== 'identity') return false;
  return type === FORM || type.split(';', 1)[0]?.trim().toLowerCase() === FORM;
}

/** Any web page can make a browser post a form to this machine; a service sends none of these headers. */
const isFromPage = (headers: IncomingMessage['headers']): boolean =>
  headers.origin !== undefined ||
  (headers['sec-fetch-site'] !== undefined && /^(cross|same)-/.test(String(headers['sec-fetch-site'])));

function respond(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', 'content-length': text.length }).end(text);
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, text, headers, drainMs = DRAIN_MS }: Refusal,
  onError: OnError,
): void {
  // A client may close the connection at any time.
  for (const stream of [request, response]) stream.on('error', () => {});
  response.writeHead(status, {
    'content-type': 'text/plain',
    'content-length': text.length,
    connection: 'close',
    ...headers,
  });
  if (drainMs === 0) return void response.end(text, () => request.socket.destroy());
  const finish = (): void => {
    cancelDrain();
    if (!response.writableEnded) response.end(text);
  };
  const cancelDrain = startTimer(drainMs, finish, onError);
  request.on('end', finish).on('close', finish).resume();
}

const socketErrors: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Answers what is not HTTP, or not in time, and closes the connection. */
function refuseSocket(error: NodeJS.ErrnoException, socket: Socket, onError: OnError): void {
  endSocket(socket, socketErrors[error.code ?? ''] ?? '400 Bad Request', onError);
}

const endedSockets = new WeakSet<Socket>();

/** Node calls it again for each part that comes after what it could not read. */
function endSocket(socket: Socket, status: string, onError: OnError): void {
  if (endedSockets.has(socket)) return;
  endedSockets.add(socket);
  if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  const cancel = startTimer(DRAIN_MS, () => void socket.destroy(), onError);
  socket.once('close', cancel);
}

/** Marks forwarded deliveries, so that one that comes back to a listener is not taken for a new one. */
export const LISTENER_HEADER = 'steno-listener';

/** This process, in the header of every delivery that it forwards. */
const ownMark = randomBytes(8).toString('hex');

/** A delivery that has passed this many listeners goes round: one that is started anew has another mark. */
const MAX_LISTENERS = 8;
/** A mark, a space. */
const MAX_HEADER_LENGTH = MAX_LISTENERS * 17;

/** The listeners that a delivery has passed, by its header; undefined: it must not pass this one. */
function readVia(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return '';
  const text = String(header);
  // Cut: any client may send any header, and only the first ones count.
  const via = text.slice(0, MAX_HEADER_LENGTH).match(/\b[0-9a-f]{16}\b/g) ?? [];
  return via.length >= MAX_LISTENERS || text.includes(ownMark) ? undefined : via.join(' ');
}

/** The header of a delivery that is forwarded. */
export const addSelf = (via: string): string => (via ? `${via} ${ownMark}` : ownMark);
