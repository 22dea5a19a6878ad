import { timingSafeEqual } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../lib/sqlite.ts';
import { isLoopback } from '../lib/url.ts';
import { FEED_PATH, feedAnswer } from './audio.ts';
import { type Answer, messageAnswer, type Params, Refusal, readBody, readParams } from './calls.ts';
import { type Fault, type FaultPlan, planFaults } from './faults.ts';
import { MethodNotAllowed, matchRoute } from './routes.ts';
import { readClock } from './store.ts';

/**
 * Programs may call, under an address of this machine; not web pages, nor names that lead here by deceit. `boundTo` is
 * the address that the sandbox was told to listen on.
 */
function checkCaller(headers: IncomingHttpHeaders, boundTo: string): void {
  if (isFromPage(headers)) throw new Refusal(403, 'The sandbox takes no calls from web pages.');
  const { host } = headers;
  if (host !== undefined && !isOurs(hostOf(host), boundTo.toLowerCase()))
    throw new Refusal(403, 'The sandbox is not called by this host name: use 127.0.0.1 or localhost.');
}

/** A browser tells these; an address that a person has typed is `none`. */
function isFromPage({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  return origin !== undefined || (site !== undefined && site !== 'none');
}

/** Without its port and brackets. */
const hostOf = (header: string): string =>
  header
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1');

/** A page can have its own name lead to this machine, but not an address. */
function isOurs(host: string, boundTo: string): boolean {
  if (host === '::1' || isLoopback(host) || host === boundTo) return true;
  const boundToAll = boundTo === '0.0.0.0' || boundTo === '::';
  return boundToAll && (isIP(host) !== 0 || host === hostname().toLowerCase());
}

export const SANDBOX_KEY = 'steno-sandbox-key';

export interface Service {
  readonly db: Database;
  /** The address that it listens on, as it was given. */
  readonly host: string;
  readonly speed: number;
  readonly faults: readonly Fault[];
  readonly lengths: ReadonlyMap<string, number>;
  /** Called after every call that may have made an event due. */
  readonly onChange: () => void;
}

export function makeServer(service: Service): Server {
  const server = createServer({ requestTimeout: 60_000, headersTimeout: 20_000 }, (request, response) => {
    void serve(service, request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status =
      error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
    const body = `{"message":"The request can't be read."}`;
    const head = `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close`;
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`);
    else socket.destroy();
  });
  return server;
}

async function serve(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // A client that closes the connection early is not an error.
  for (const stream of [request, response]) stream.on('error', () => {});
  const plan = planFaults(service.faults);
  const answer = await answerTo(service, request, plan).catch(failure);
  respond(response, answer, plan);
}

async function answerTo(
  service: Service,
  request: IncomingMessage,
  { delayMs, status }: FaultPlan,
): Promise<Answer> {
  const body = await readBody(request);
  checkCaller(request.headers, service.host);
  if (delayMs > 0) await sleep(delayMs, undefined, { ref: false });
  if (status !== undefined) return messageAnswer(`Status ${status}, as asked for with --fault.`, status);
  return handle(service, request, body);
}

async function handle(
  { db, speed, lengths, onChange }: Service,
  request: IncomingMessage,
  body: Buffer,
): Promise<Answer> {
  const { method = '', url = '' } = request;
  const [path = '', ...query] = url.split('?');
  if (path === FEED_PATH && method === 'GET') return feedAnswer(request.headers.host ?? '');
  const { route, pathParams } = matchRoute(method, path);
  const params = readParams(query.join('?'), request.headers['content-type'], body);
  requireKey(params);
  const answerCall = () =>
    route.answer({ db, speed, lengths, now: readClock(db), params, pathParams }, method);
  if (route.reads) return answerCall();
  const answer = db.transaction(answerCall);
  onChange();
  return answer;
}

function requireKey(params: Params): void {
  const given = Buffer.from(params.first('api_key') ?? '');
  const key = Buffer.from(SANDBOX_KEY);
  if (given.length === key.length && timingSafeEqual(given, key)) return;
  throw new Refusal(
    401,
    given.length === 0 ? 'The parameter api_key is missing.' : 'The api_key is not accepted.',
  );
}

function failure(error: unknown): Answer {
  if (!(error instanceof Refusal)) return messageAnswer('The sandbox could not do this.', 500);
  const answer = messageAnswer(error.message, error.status);
  return error instanceof MethodNotAllowed ? { ...answer, headers: { allow: error.allow } } : answer;
}

function respond(
  response: ServerResponse,
  { status, type, body, headers }: Answer,
  { breakage }: FaultPlan,
): void {
  if (breakage === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  response.writeHead(status, { 'content-type': type, 'content-length': body.length, ...headers });
  if (breakage === 'truncate')
    response.write(body.subarray(0, body.length >> 1), () => response.socket?.destroy());
  else response.end(body);
}
