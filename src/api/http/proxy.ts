/** The proxy that the environment names, and the way through it. */
import type { TcpNetConnectOpts } from 'node:net';
import type { buildConnector, Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Env } from '../../lib/env.ts';
import { errorCode, errorMessage, usage } from '../../lib/errors.ts';
import { isUrl } from '../../lib/url.ts';
import { basicAuth, nearnessOf } from './address.ts';
import type { HttpRequest } from './exchange.ts';
import { isTransient } from './failures.ts';
import { ProxyError } from './network-errors.ts';

export type Connector = buildConnector.connector;

/** A plain http request as a proxy takes it: with the whole URL in place of the path. */
export const inAbsoluteForm = (request: HttpRequest, proxy: URL): HttpRequest => {
  const { origin, path, headers } = request;
  const credentials = basicAuth(proxy);
  const own = {
    host: new URL(String(origin)).host,
    ...(credentials && { 'proxy-authorization': credentials }),
  };
  return { ...request, origin: proxy.origin, path: `${origin}${path}`, headers: { ...headers, ...own } };
};

interface UndiciPools {
  readonly Pool: typeof Pool;
  readonly ProxyAgent: typeof ProxyAgent;
}

/** A tunnel for each connection; `poolOf` makes the pool of what goes through them. */
export function openTunnels(
  undici: UndiciPools,
  proxy: URL,
  tcp: Partial<TcpNetConnectOpts>,
  poolOf: (origin: string | URL, connect: Connector) => Dispatcher,
): Dispatcher {
  const connectIn = (options: object): Connector => (options as { connect: Connector }).connect;
  const tls = tcp as buildConnector.BuildOptions;
  const token = basicAuth(proxy);
  return new undici.ProxyAgent({
    uri: proxy.origin,
    ...(token && { token }),
    requestTls: tls,
    proxyTls: tls,
    clientFactory: (origin, options) => {
      const connect = toProxy(connectIn(options));
      return new undici.Pool(origin, { connect, headersTimeout: tcp.timeout ?? 0, maxHeaderSize: 65_536 });
    },
    factory: (origin, options) => poolOf(origin, throughTunnel(connectIn(options))),
  });
}

/** Connects to the proxy itself. */
export const toProxy =
  (connect: Connector): Connector =>
  (target, callback) =>
    connect(target, (...[error, socket]) =>
      error ? callback(ProxyError.unreachable(error), null) : callback(null, socket),
    );

/**
 * Gives the errors of a tunnel a kind of our own: at one with the code UND_ERR_SOCKET, which a proxy causes that closes
 * the connection after CONNECT, undici 7.30 connects again at once, without end.
 */
const throughTunnel =
  (connect: Connector): Connector =>
  (target, callback) =>
    connect(target, (...[error, socket]) =>
      error ? callback(tunnelError(error), null) : callback(null, socket),
    );

function tunnelError(cause: Error & { syscall?: string }): Error {
  const code = errorCode(cause);
  const failed = (what: string, transient = true, status?: number): ProxyError =>
    new ProxyError(what, transient, { cause, ...(status && { status }) });
  if (code === 'UND_ERR_SOCKET') return failed('the proxy closed the connection without opening a tunnel');
  if (code === 'ECONNRESET' && cause.syscall === 'read')
    return failed('the proxy dropped the connection without opening a tunnel');
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return failed('the proxy did not answer in time');
  if (cause.name === 'HTTPParserError') return failed("the proxy's answer is not HTTP", false);
  const [, status] = /^Proxy response \((\d+)\)/.exec(errorMessage(cause)) ?? [];
  return status === undefined
    ? cause
    : failed(`the proxy refused the tunnel (HTTP ${status})`, isTransient(Number(status)), Number(status));
}

/** The proxy that the environment names for this URL, if any. */
export function proxyFor(target: URL, env: Env): URL | undefined {
  const name = target.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const proxy = env[name] || env[name.toUpperCase()];
  if (!proxy || isExempt(target, env.no_proxy || env.NO_PROXY || '')) return undefined;
  const text = isUrl(proxy) ? proxy : `http://${proxy}`;
  if (!isUrl(text) || !/^https?:\/\//i.test(text)) {
    throw usage(
      `${name.toUpperCase()} is not the address of an http proxy`,
      'write it like http://host:port',
    );
  }
  // Plain http to this machine may hold the key, and a proxy on another machine would lead to that one.
  const url = new URL(text);
  const leavesMachine = target.protocol === 'http:' && nearnessOf(target) === 2 && nearnessOf(url) < 2;
  return leavesMachine ? undefined : url;
}

/** NO_PROXY: host names separated by commas; each covers its subdomains; `*` covers every host. */
function isExempt(target: URL, noProxy: string): boolean {
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  return noProxy.split(/[,\s]+/).some((entry) => {
    if (entry === '*') return true;
    const [, host = '', onlyPort] =
      /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase().replace(/^\*?\./, '')) ?? [];
    if (!host || (onlyPort && onlyPort !== port)) return false;
    return [host, `[${host}]`].includes(target.hostname) || target.hostname.endsWith(`.${host}`);
  });
}
