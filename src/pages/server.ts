/**
 * The server of the pages, on loopback. Other users of this machine, other sites in the same browser and names that lead
 * here by a trick of DNS can all reach it: so nothing but the empty page is served without the token.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { Changes } from '../ledger/changes.ts';
import type { Effect } from '../lib/command-entry.ts';
import { errorJson } from '../lib/error-json.ts';
import { errorMessage, type Kind, StenoError, systemReason, usage } from '../lib/errors.ts';
import { formatJson, type Json, parseJson, toJson } from '../lib/json.ts';
import { accountHandlers } from './account-api.ts';
import { eventHandlers } from './events-api.ts';
import { fileHandlers } from './files-api.ts';
import { isLedgerTrouble, Live } from './live.ts';
import { Openings } from './opening.ts';
import { CsvAnswer, type Handlers, type PageSource, textOf } from './source.ts';
import { isSameToken, newToken } from './token.ts';
import { transcriptHandlers } from './transcripts-api.ts';

export interface PageServerOptions {
  readonly source: PageSource;
  /** 0: any free port. */
  readonly port: number;
  /** Where the built page is. */
  readonly assets: string;
  /** Where files that open a browser are put; nobody else may read it. */
  readonly folder: string;
  /** Keeps what the ledger says of open files up to date, while a page is open. */
  readonly refresh?: (() => Promise<void>) | undefined;
}

export interface PageServer {
  readonly port: number;
  readonly token: string;
  /** A file that leads a browser to the page. */
  opening(go: string): string;
  close(): Promise<void>;
}

const assets: Readonly<Record<string, readonly [name: string, type: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/app.js': ['app.js', 'text/javascript; charset=utf-8'],
  '/app.css': ['app.css', 'text/css; charset=utf-8'],
  '/favicon.svg': ['favicon.svg', 'image/svg+xml'],
};

const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src http: https:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** An edited event, in JSON; a delivery has a megabyte at most. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** A browser has six connections, and a page takes one of them for as long as it is open. */
const MAX_CONNECTIONS = 100;
/** Silence of a connection: a page that is open hears something every 15 seconds. */
const IDLE_MS = 120_000;
/** The one that browsers leave out. */
const HTTP_PORT = 80;

const serverOptions = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
};

/** 401 is for the token alone: a page without a valid one must not seem to have a wrong key. */
const statuses: Readonly<Partial<Record<Kind, number>>> = {
  ...{ usage: 400, missing: 404, network: 502, timeout: 504, interrupted: 503 },
};

/** An answer other than data. */
class Refusal extends Error {
  readonly status: number;
  readonly code: Kind | 'not_allowed';
  readonly headers: Readonly<Record<string, string>>;
  readonly hint: string | undefined;

  constructor(
    status: number,
    code: Refusal['code'],
    message: string,
    { headers = {}, hint }: { headers?: Refusal['headers']; hint?: string | undefined } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.hint = hint;
  }
}

/** What acts, with the effect that a command doing the same has. */
const acting: Readonly<Record<string, readonly [effect: Effect, what: string]>> = {
  'POST file/:/download': ['local', 'a download'],
  'POST event/:/replay': ['account', 'a replay'],
};

export async function openPageServer(options: PageServerOptions): Promise<PageServer> {
  const { source, port } = options;
  const token = newToken();
  const openings = new Openings(options.folder);
  const watched = await source.ledger.openSecondConnection();
  const changes = new Changes(watched);
  const spool = await source.spool();
  const live = new Live([source.ledger, watched], changes, {
    ...{ hide: source.hide, refresh: options.refresh },
    waiting: () => spool.countAll(),
  });
  const server = createServer(serverOptions);
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(IDLE_MS, (socket: Socket) => socket.destroy());
  await startListening(server, port);
  const address = server.address() as AddressInfo;
  const pages = new Pages(options, { port: address.port, token, openings, live, changes });
  server.on('request', (request, response) => void pages.answer(request, response));
  return {
    port: address.port,
    token,
    opening: (go) => openings.add(address.port, token, go),
    close: async () => {
      openings.removeAll();
      live.close();
      server.close();
      server.closeAllConnections();
      spool.close();
      await watched.close();
    },
  };
}

interface Parts {
  readonly port: number;
  readonly token: string;
  readonly openings: Openings;
  readonly live: Live;
  readonly changes: Changes;
}

class Pages {
  readonly #options: PageServerOptions;
  readonly #parts: Parts;
  readonly #handlers: Handlers;

  constructor(options: PageServerOptions, parts: Parts) {
    const { source } = options;
    this.#options = options;
    this.#parts = parts;
    this.#handlers = {
      ...fileHandlers(source, parts.changes),
      ...transcriptHandlers(source),
      ...eventHandlers(source),
      ...accountHandlers(source, parts.changes),
      // For `steno open`: the browser is opened by the process that was asked to.
      'POST opening': async (call) => {
        const go = textOf(call, 'go') ?? '';
        if (!/^\/[\x21-\x7e]{0,500}$/.test(go)) throw usage('that is no page');
        return toJson({ path: parts.openings.add(parts.port, parts.token, go) });
      },
    };
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
    try {
      this.#checkSender(request);
      const [path = '', ...query] = (request.url ?? '').split('?');
      if (path.startsWith('/api/')) await this.#answerCall(request, response, path, query.join('?'));
      else await this.#answerPage(request, response, path);
    } catch (error) {
      this.#fail(request, response, error);
    }
  }

  /** A name that leads here is not ours, and no other site may so much as ask. */
  #checkSender({ headers, url = '' }: IncomingMessage): void {
    const { port } = this.#parts;
    const host = port === HTTP_PORT ? '127.0.0.1' : `127.0.0.1:${port}`;
    const { origin } = headers;
    const site = headers['sec-fetch-site'];
    // The file that opens the browser is another site, and so is a link: to go to the empty page is open to all.
    const isVisit =
      !url.startsWith('/api/') &&
      headers['sec-fetch-mode'] === 'navigate' &&
      headers['sec-fetch-dest'] === 'document';
    if (headers.host !== host) throw new Refusal(403, 'auth', `this address is only served as ${host}`);
    const isForeign = site !== undefined && site !== 'same-origin' && !isVisit;
    if (isForeign || (origin !== undefined && origin !== `http://${host}`))
      throw new Refusal(403, 'auth', 'other sites may not use this address');
  }

  async #answerPage(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const [, opening] = /^\/open\/([0-9a-f]{1,64})$/.exec(path) ?? [];
    const asset = Object.hasOwn(assets, path) ? assets[path] : undefined;
    if (!asset && opening === undefined) throw new Refusal(404, 'missing', 'there is no such page');
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw new Refusal(405, 'usage', 'only GET', { headers: { allow: 'GET, HEAD' } });
    if (!asset) {
      // The browser has read its file. It takes what stands after the # along.
      this.#parts.openings.remove(opening ?? '');
      return void response.writeHead(303, { location: '/', 'content-length': 0 }).end();
    }
    const [name, type] = asset;
    const content = await readFile(join(this.#options.assets, name)).catch(() => {
      throw new Refusal(404, 'missing', `${name} is not part of this build`);
    });
    response.writeHead(200, { 'content-type': type, 'content-length': content.length });
    response.end(request.method === 'HEAD' ? undefined : content);
  }

  async #answerCall(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: string,
  ): Promise<void> {
    const { method = '', headers } = request;
    const [, given = ''] = /^Bearer ([\w-]{1,200})$/.exec(headers.authorization ?? '') ?? [];
    if (!isSameToken(given, this.#parts.token))
      throw new Refusal(401, 'auth', 'this page has no valid token: open it again with steno ui', {
        headers: { 'www-authenticate': 'Bearer' },
      });
    const [name, id] = routeOf(path);
    if (name === 'live' && method === 'GET') {
      if (this.#parts.live.add(response)) return;
      throw new Refusal(503, 'failed', 'too many pages are open', { headers: { 'retry-after': '10' } });
    }
    const handler = this.#handlers[`${method} ${name}`];
    if (!handler) throw this.#noHandler(name);
    this.#checkAllowed(`${method} ${name}`);
    const body = method === 'POST' ? await readBody(request) : new Map<string, Json>();
    const answer = await handler({ id, query: new URLSearchParams(query), body });
    this.#send(response, answer);
  }

  #checkAllowed(name: string): void {
    const [effect, what] = acting[name] ?? [];
    if (!effect || !what) return;
    try {
      this.#options.source.requireAllowed(effect, what);
    } catch (error) {
      const { message, hint } = asStenoError(error);
      throw new Refusal(403, 'not_allowed', message, { hint });
    }
  }

  #noHandler(name: string): Refusal {
    const allowed = ['GET', 'POST'].filter(
      (method) => Object.hasOwn(this.#handlers, `${method} ${name}`) || (name === 'live' && method === 'GET'),
    );
    if (allowed.length === 0) return new Refusal(404, 'missing', 'there is nothing at this address');
    const allow = allowed.join(', ');
    return new Refusal(405, 'usage', `only ${allow}`, { headers: { allow } });
  }

  /** Whatever is sent passes the mask. */
  #send(response: ServerResponse, answer: Json | CsvAnswer, status = 200): void {
    const isCsv = answer instanceof CsvAnswer;
    const text = this.#options.source.hide(isCsv ? answer.text : formatJson(answer, 0));
    const content = Buffer.from(text);
    response.writeHead(status, {
      'content-type': isCsv ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8',
      'content-length': content.length,
      ...(isCsv && { 'content-disposition': `attachment; filename="${answer.name}"` }),
    });
    response.end(content);
  }

  #fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    if (response.headersSent) return void response.destroy();
    const isTrouble = isLedgerTrouble(error);
    if (isTrouble) this.#parts.live.report(error);
    if (error instanceof Refusal)
      for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
    // What is left of a request that was refused is not read.
    if (!request.complete) response.setHeader('connection', 'close');
    const known = asStenoError(error);
    const status = isTrouble ? 503 : (statuses[known.kind] ?? 500);
    const { hide } = this.#options.source;
    const json = errorJson(known, hide);
    if (error instanceof Refusal) json.set('code', error.code);
    this.#send(response, toJson({ error: json }), error instanceof Refusal ? error.status : status);
    if (!request.complete) request.resume();
  }
}

function asStenoError(error: unknown): StenoError {
  if (error instanceof StenoError) return error;
  const hint = error instanceof Refusal ? error.hint : undefined;
  return new StenoError('failed', errorMessage(error), { hint });
}

/** `/api/file/1001/check` is `file/:/check` of 1001. */
function routeOf(path: string): [name: string, id: string] {
  const [first = '', id, ...rest] = path.slice('/api/'.length).split('/');
  if (id === undefined) return [first, ''];
  try {
    return [[first, ':', ...rest].join('/'), decodeURIComponent(id)];
  } catch {
    throw usage('that address is not written as an address is');
  }
}

/** The JSON object that a POST brings. Another site could send a form or a text without asking, but no JSON. */
async function readBody(request: IncomingMessage): Promise<ReadonlyMap<string, Json>> {
  const { 'content-type': type = '', 'content-length': length = '0' } = request.headers;
  if (type.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json')
    throw new Refusal(415, 'usage', 'only application/json');
  const tooLarge = new Refusal(413, 'usage', `larger than ${MAX_BODY_BYTES / 1024 / 1024} MB`);
  if (Number(length) > MAX_BODY_BYTES) throw tooLarge;
  const chunks: Buffer[] = [];
  let size = 0;
  // Its sender is to get the answer, whatever it was about to send.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw tooLarge;
    chunks.push(chunk);
  }
  try {
    const json = parseJson(Buffer.concat(chunks).toString());
    if (json instanceof Map) return json;
  } catch {
    // Not JSON at all.
  }
  throw usage('the body is not a JSON object');
}

function startListening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const hint = error.code === 'EADDRINUSE' ? 'choose another with --port; 0 picks a free one' : undefined;
      const what = `can't serve pages on 127.0.0.1:${port}: ${systemReason(error)}`;
      reject(new StenoError('failed', what, { hint, cause: error }));
    });
    server.listen(port, '127.0.0.1', () => resolve(void server.on('error', () => {})));
  });
}
