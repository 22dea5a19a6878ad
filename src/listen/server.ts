/** The receiver: takes deliveries in at one path, and answers each after it is kept. It knows no terminal. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { ConnectionLimit } from './connection-limit.ts';
import { hopMarker } from './hop-marker.ts';

export interface Delivery {
  readonly body: Buffer;
  readonly contentType: string;
  readonly receivedAt: string;
  readonly remote: string;
}

export interface ReceiverOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly accepts: (path: string) => boolean;
  /** Calls back when the delivery is safe, or with the error if it can't be kept: without promises, for a flood. */
  readonly keep: (delivery: Delivery, kept: (error?: unknown) => void) => void;
}

export interface Receiver {
  /** Its address, without a path. */
  readonly origin: string;
  readonly port: number;
  /** Takes no more connections, and answers what is under way. */
  close(): Promise<void>;
}

const FORM = 'application/x-www-form-urlencoded';
const LARGEST_BODY = 1024 * 1024;
/** Of all bodies that wait to be kept, together. */
const MOST_BYTES = 64 * LARGEST_BODY;
const MOST_CONNECTIONS = 500;
/** Longer than the ledger's patience: what is kept is also answered. */
const LAST_ANSWERS = 6_000;
/** So long what comes after a refusal is read and dropped, for a sender that listens only when it has sent all. */
const DRAIN = 1_000;

const limits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
};

export async function openReceiver(door: ReceiverOptions): Promise<Receiver> {
  const serve = new Serving(door);
  const server = await makeServer(door, serve.request);
  server.on(door.tls ? 'secureConnection' : 'connection', (socket: Socket) => serve.room.enter(socket));
  server.on('clientError', refuseSocket);
  server.maxConnections = 2 * MOST_CONNECTIONS;
  await listen(server, door);
  const { address, family, port } = server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  return { origin: `${door.tls ? 'https' : 'http'}://${host}:${port}`, port, close: () => close(server) };
}

type OnRequest = (request: IncomingMessage, response: ServerResponse) => void;

async function makeServer({ tls }: ReceiverOptions, onRequest: OnRequest): Promise<Server> {
  if (!tls) return createServer(limits, onRequest);
  const https = await import('node:https');
  try {
    return https.createServer({ ...limits, ...tls, handshakeTimeout: 10_000 }, onRequest);
  } catch (error) {
    throw new StenoError('usage', `--tls-cert and --tls-key can't be used: ${errorMessage(error)}`);
  }
}

class Serving {
  readonly room = new ConnectionLimit(MOST_CONNECTIONS);
  readonly #door: ReceiverOptions;
  #waitingBytes = 0;

  constructor(door: ReceiverOptions) {
    this.#door = door;
  }

  readonly request = (request: IncomingMessage, response: ServerResponse): void => {
    const { method, url = '', headers } = request;
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    if (path === '/healthz' && (method === 'GET' || method === 'HEAD')) answer(response, 200, 'ok');
    else if (!this.#door.accepts(path)) refuse(request, response, 404);
    else if (method !== 'POST') refuse(request, response, 405, { allow: 'POST' });
    else if (!isForm(headers)) refuse(request, response, 415);
    else if (isFromPage(headers)) refuse(request, response, 403);
    else if (headers['steno-listener'] === hopMarker) refuse(request, response, 409);
    else if (Number(headers['content-length'] ?? 0) > LARGEST_BODY) refuse(request, response, 413);
    else this.#take(request, response);
  };

  #take(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    let size = 0;
    const collect = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= LARGEST_BODY) return void chunks.push(chunk);
      request.off('data', collect).off('end', complete);
      refuse(request, response, 413);
    };
    const complete = (): void =>
      this.#keep(request, response, chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    request.on('data', collect).on('end', complete);
  }

  #keep({ socket, headers }: IncomingMessage, response: ServerResponse, body: Buffer): void {
    if (this.#waitingBytes + body.length > MOST_BYTES) return void answer(response, 503, 'too much at once');
    this.room.busy(socket);
    this.#waitingBytes += body.length;
    const contentType = headers['content-type'] ?? '';
    const delivery = { body, contentType, receivedAt: timestamp(), remote: socket.remoteAddress ?? '' };
    this.#door.keep(delivery, (error) => {
      this.#waitingBytes -= body.length;
      this.room.idle(socket);
      // 200 without a body: a single write.
      if (error === undefined) response.end();
      else answer(response, 503, 'it could not be kept');
    });
  }
}

let moment = 0;
let written = '';

/** The time in ISO 8601; written anew once a millisecond, for a flood has many events in one. */
function timestamp(): string {
  const now = Date.now();
  if (now !== moment) {
    moment = now;
    written = new Date(now).toISOString();
  }
  return written;
}

function isForm({
  'content-type': type = '',
  'content-encoding': coding,
}: IncomingMessage['headers']): boolean {
  if (coding !== undefined && coding !== 'identity') return false;
  return type === FORM || type.split(';', 1)[0]?.trim().toLowerCase() === FORM;
}

/** Any web page can have a browser post a form to this machine; a service sends none of these. */
const isFromPage = (headers: IncomingMessage['headers']): boolean =>
  headers.origin !== undefined ||
  (headers['sec-fetch-site'] !== undefined && /^(cross|same)-/.test(String(headers['sec-fetch-site'])));

const words: Readonly<Record<number, string>> = {
  403: 'not from a web page',
  409: 'its own delivery came back',
  404: 'nothing is received here',
  405: 'only POST',
  413: 'larger than 1 MiB',
  415: 'only application/x-www-form-urlencoded',
};

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', 'content-length': text.length }).end(text);
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = words[status] ?? '';
  // A client that goes away in the middle is no fault of ours.
  for (const stream of [request, response]) stream.on('error', () => {});
  response.writeHead(status, {
    'content-type': 'text/plain',
    'content-length': text.length,
    connection: 'close',
    ...headers,
  });
  const finish = (): void => {
    clearTimeout(timer);
    if (!response.writableEnded) response.end(text);
  };
  const timer = setTimeout(finish, DRAIN);
  request.on('end', finish).on('close', finish).resume();
}

/** What is not even HTTP gets an answer if it can be given one, and never more than that. */
function refuseSocket(error: NodeJS.ErrnoException, socket: Socket): void {
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  setTimeout(() => socket.destroy(), DRAIN).unref();
}

function listen(server: Server, { host, port }: ReceiverOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const hint = error.code === 'EADDRINUSE' ? 'choose another with --port; 0 is any free one' : undefined;
      const what = `can't listen on ${host}:${port}: ${error.message}`;
      reject(new StenoError('failed', what, { hint, cause: error }));
    });
    // Later errors concern single connections: the receiver goes on.
    server.listen(port, host, () => resolve(void server.on('error', () => {})));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
