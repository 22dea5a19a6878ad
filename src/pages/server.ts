/**
 * The server of the pages, on loopback. Other users of this machine, other sites in the same browser and names that lead
 * here by a trick of DNS can all reach it: so nothing but the empty page is served without the cookie.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { Changes } from '../ledger/changes.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Effect } from '../lib/effects.ts';
import { errorJson } from '../lib/error-json.ts';
import { errorMessage, type Kind, StenoError, usage } from '../lib/errors.ts';
import { formatJson, type Json, parseJson, toJson } from '../lib/json.ts';
import { readBytes } from '../lib/lines.ts';
import { startListening } from '../lib/listening.ts';
import { accountHandlers } from './account-api.ts';
import { cookieOf, Door } from './door.ts';
import { eventHandlers } from './events-api.ts';
import { fileHandlers } from './files-api.ts';
import { Live } from './live.ts';
import { type FileAnswer, type Handlers, type PageSource, textOf } from './source.ts';

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

/** What takes a POST, and the effect of a command that does the same. */
const posts: Readonly<Record<string, readonly [effect?: Effect, what?: string]>> = {
  downloads: ['local', 'a download'],
  zip: ['local', 'a download'],
  'event/:/replay': ['account', 'a replay'],
  opening: [],
};

/** An edited event, in JSON; a delivery has a megabyte at most. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Connections that have shown no cookie; beyond these, the oldest give way. */
const MAX_UNKNOWN = 100;
/** A command that a call runs may take long. */
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

/** Whatever else the service refuses is 502, a key too: `auth` with 403 is for the cookie alone. */
const statuses: Readonly<Partial<Record<Kind, number>>> = {
  ...{ usage: 400, missing: 404, timeout: 504, interrupted: 503 },
};

/** An answer other than data. */
class Refusal extends StenoError {
  readonly answer: { readonly status: number; readonly code: string };

  constructor(status: number, code: string, message: string, hint?: string) {
    super('failed', message, { hint });
    this.answer = { status, code };
  }
}

export class PageServer {
  readonly #source: PageSource;
  readonly #watched: Ledger;
  readonly #live: Live;
  readonly #door: Door;
  readonly #handlers: Handlers;
  readonly #unknown = new Set<Socket>();
  readonly #server = createServer(serverOptions);

  private constructor(source: PageSource, watched: Ledger) {
    const changes = new Changes(watched);
    this.#source = source;
    this.#watched = watched;
    this.#live = new Live(source, watched, changes);
    this.#door = new Door(source.folder);
    this.#handlers = {
      ...fileHandlers(source, changes),
      ...eventHandlers(source),
      ...accountHandlers(source, changes),
      live: async () => toJson(await this.#live.marks()),
      // For `steno open`.
      opening: async (call) => {
        const go = textOf(call, 'go') ?? '';
        if (!/^\/[\x21-\x7e]{0,500}$/.test(go)) throw usage('the page has no such path');
        return toJson({ url: this.address(go) });
      },
    };
    this.#server.on('request', (request, response) => void this.#answer(request, response));
    this.#server.on('connection', (socket) => this.#admit(socket));
    this.#server.setTimeout(IDLE_MS, (socket) => socket.destroy());
  }

  /** Port 0: any free one. */
  static async open(source: PageSource, port: number): Promise<PageServer> {
    const pages = new PageServer(source, await source.ledger.openSecondConnection());
    await startListening(pages.#server, '127.0.0.1', port);
    return pages;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get session(): string {
    return this.#door.session;
  }

  /** An address that opens the page, once. */
  address(go: string): string {
    return this.#door.address(this.port, go);
  }

  async close(): Promise<void> {
    this.#door.close();
    this.#server.close();
    this.#server.closeAllConnections();
    this.#source.waiting.close();
    await this.#watched.close();
  }

  /** Whoever fills the connections without a cookie loses their own. */
  #admit(socket: Socket): void {
    this.#unknown.add(socket);
    socket.on('close', () => this.#unknown.delete(socket));
    const [oldest] = this.#unknown;
    if (this.#unknown.size > MAX_UNKNOWN) oldest?.destroy();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
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
    const host = this.port === HTTP_PORT ? '127.0.0.1' : `127.0.0.1:${this.port}`;
    const { origin, 'sec-fetch-site': site = 'same-origin' } = headers;
    // The file that opens the browser is another site, and so is a link: to go to the empty page is open to all.
    const isVisit =
      !url.startsWith('/api/') &&
      headers['sec-fetch-mode'] === 'navigate' &&
      headers['sec-fetch-dest'] === 'document';
    if (headers.host !== host) throw new Refusal(403, 'auth', `this address is only served as ${host}`);
    if ((site !== 'same-origin' && !isVisit) || (origin !== undefined && origin !== `http://${host}`))
      throw new Refusal(403, 'auth', 'other sites may not use this address');
  }

  async #answerPage(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const [, token] = /^\/open\/([\w-]{1,64})$/.exec(path) ?? [];
    const asset = token ? '/' : path;
    const [name, type = ''] = (Object.hasOwn(assets, asset) && assets[asset]) || [];
    if (!name) throw new Refusal(404, 'missing', 'there is no such page');
    checkMethod(request, response, token ? ['GET'] : ['GET', 'HEAD']);
    if (token && this.#open(request, response, token)) return;
    const content = await readFile(join(this.#source.build, 'ui', name));
    // An address that was used shows a page without data, which says what to do.
    response.writeHead(token ? 403 : 200, { 'content-type': type, 'content-length': content.length });
    response.end(request.method === 'HEAD' ? undefined : content);
  }

  /** Leads to an address without the token. Whoever has the cookie needs no token. */
  #open(request: IncomingMessage, response: ServerResponse, token: string): boolean {
    const go = this.#door.enter(token);
    if (go === undefined && !this.#isKnown(request)) return false;
    this.#unknown.delete(request.socket);
    const cookie = `${cookieOf(this.port, this.session)}; HttpOnly; SameSite=Strict; Path=/`;
    if (go !== undefined) response.setHeader('set-cookie', cookie);
    response.writeHead(303, { location: `/#${go ?? '/files'}`, 'content-length': 0 }).end();
    return true;
  }

  #isKnown(request: IncomingMessage): boolean {
    const isKnown = this.#door.isOpenTo(request, this.port);
    if (isKnown) this.#unknown.delete(request.socket);
    return isKnown;
  }

  async #answerCall(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: string,
  ): Promise<void> {
    if (!this.#isKnown(request)) throw new Refusal(403, 'auth', 'no access: open the page with steno ui');
    const [name, id] = routeOf(path);
    const handler = Object.hasOwn(this.#handlers, name) && this.#handlers[name];
    if (!handler) throw new Refusal(404, 'missing', 'there is nothing at this address');
    const post = Object.hasOwn(posts, name) && posts[name];
    checkMethod(request, response, [post ? 'POST' : 'GET']);
    if (post) this.#checkAllowed(...post);
    const body = post ? await readBody(request) : new Map<string, Json>();
    const left = new AbortController();
    response.once('close', () => left.abort());
    const signal = AbortSignal.any([left.signal, this.#source.signal]);
    this.#send(response, await handler({ id, query: new URLSearchParams(query), body, signal }));
  }

  #checkAllowed(effect?: Effect, what = ''): void {
    try {
      if (effect) this.#source.requireAllowed(effect, what);
    } catch (error) {
      const { message, hint } = error as StenoError;
      throw new Refusal(403, 'not_allowed', message, hint);
    }
  }

  /** Whatever is sent passes the mask. */
  #send(response: ServerResponse, answer: Json | FileAnswer, status = 200): void {
    const isFile = typeof answer === 'object' && answer !== null && 'content' in answer;
    if (isFile) response.setHeader('content-disposition', `attachment; filename="${answer.name}"`);
    const type = isFile ? answer.type : 'application/json; charset=utf-8';
    const json = (): string => (typeof answer === 'string' ? answer : formatJson(answer as Json, 0));
    const content = isFile ? answer.content : json();
    const sent = typeof content === 'string' ? Buffer.from(this.#source.hide(content)) : content;
    response.writeHead(status, { 'content-type': type, 'content-length': sent.length }).end(sent);
  }

  #fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    if (response.headersSent) return void response.destroy();
    const known = error instanceof StenoError ? error : new StenoError('failed', errorMessage(error));
    const usual = error === known ? (statuses[known.kind] ?? 502) : 500;
    const answer = { status: this.#live.isTrouble(error) ? 503 : usual, code: known.kind };
    const { status, code } = error instanceof Refusal ? error.answer : answer;
    // What is left of a request that was refused is not read.
    if (!request.complete) response.setHeader('connection', 'close');
    this.#send(response, toJson({ error: errorJson(known, this.#source.hide).set('code', code) }), status);
    if (!request.complete) request.resume();
  }
}

function checkMethod({ method = '' }: IncomingMessage, response: ServerResponse, allowed: string[]): void {
  if (allowed.includes(method)) return;
  response.setHeader('allow', allowed.join(', '));
  throw new Refusal(405, 'usage', `only ${allowed.join(', ')}`);
}

/** `/api/file/1001/check` is `file/:/check` of 1001. */
function routeOf(path: string): [name: string, id: string] {
  const [first = '', id, ...rest] = path.slice('/api/'.length).split('/');
  if (id === undefined) return [first, ''];
  try {
    return [[first, ':', ...rest].join('/'), decodeURIComponent(id)];
  } catch {
    throw usage('the address contains an invalid %-escape');
  }
}

/** The JSON object that a POST brings. Another site could send a form or a text without asking, but no JSON. */
async function readBody(request: IncomingMessage): Promise<ReadonlyMap<string, Json>> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== 'application/json')
    throw new Refusal(415, 'usage', 'only application/json');
  // Its sender is to get the answer, whatever it was about to send.
  const chunks = request.iterator({ destroyOnReturn: false });
  const content = await readBytes(chunks, MAX_BODY_BYTES).catch(() => {
    throw new Refusal(413, 'usage', `larger than ${MAX_BODY_BYTES / 1024 / 1024} MB`);
  });
  try {
    const json = parseJson(content.toString());
    if (json instanceof Map) return json;
  } catch {
    // Not JSON at all.
  }
  throw usage('the body is not a JSON object');
}
