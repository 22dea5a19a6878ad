/** Makes connections for undici, direct or through a proxy, and takes out of them what undici can't read. */
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { basicAuth } from './address.ts';
import type { BeforeSend } from './call.ts';
import { isTransient } from './failures.ts';
import { NotHttpError, ProxyError } from './network-errors.ts';

type Connector = buildConnector.connector;

/** undici writes the request as soon as it is given the connection; nothing is sent where `beforeSend` rejects. */
export const requestConnector =
  (connect: Connector, onWrite: () => void, beforeSend?: BeforeSend): Connector =>
  (target, callback) =>
    connect(target, (...[error, socket]) => {
      if (error) return callback(error, null);
      const check = beforeSend?.();
      const use = (): void => callback(null, fromResponseOn(socket, onWrite));
      if (!check) return use();
      check.then(use, (refusal: Error) => {
        socket.destroy();
        callback(refusal, null);
      });
    });

/** `connect` is undici's own connector. */
export const proxyConnector = (connect: Connector, proxy: URL, tunnels: boolean): Connector =>
  tunnels
    ? tunnelConnector(connect, proxy)
    : (target, callback) =>
        connect(target, (...[error, socket]) =>
          error ? callback(ProxyError.unreachable(error), null) : callback(null, socket),
        );

/**
 * After each write, hands out what is read from the status line of the response on.
 *
 * It replaces two methods of the socket, because undici has no option for this, and a stream around the socket would
 * copy every body. undici takes everything with `read()`, and writes a whole request before it reads.
 */
function fromResponseOn(socket: Socket, onWrite: () => void): Socket {
  const [read, write] = [socket.read.bind(socket), socket.write.bind(socket)];
  let head: ResponseHead | undefined;
  socket.write = ((...args: Parameters<typeof write>) => {
    onWrite();
    head ??= new ResponseHead();
    return write(...args);
  }) as typeof socket.write;
  socket.read = (size) => {
    if (!head || size === 0) return read(size);
    try {
      for (let chunk = read(); chunk !== null; chunk = read()) {
        const response = head.take(chunk);
        if (!response) continue;
        head = undefined;
        return response;
      }
    } catch (error) {
      socket.destroy(error as Error);
    }
    return null;
  };
  return socket;
}

const TUNNEL_LIMIT_MS = 15_000;
const MAX_HEAD_BYTES = 65_536;
const HEAD_END = '\r\n\r\n';

/**
 * Connects through a proxy's tunnel (CONNECT).
 *
 * undici's ProxyAgent is not used: if the proxy closes the connection after CONNECT, it connects again at once, without
 * end. Any error with undici's code UND_ERR_SOCKET has that effect here, so this gives errors of its own.
 */
function tunnelConnector(connect: Connector, proxy: URL): Connector {
  const { protocol, host, port } = proxy;
  const address = { protocol, host, port, hostname: proxy.hostname.replace(/^\[|\]$/g, '') };
  const credentials = basicAuth(proxy);
  return (target, callback) => {
    const authority = `${target.host}${target.port ? '' : ':443'}`;
    const request = [`CONNECT ${authority} HTTP/1.1`, `host: ${authority}`, 'proxy-connection: keep-alive'];
    if (credentials) request.push(`proxy-authorization: ${credentials}`);
    connect(address, (...[error, socket]) => {
      if (error) return callback(ProxyError.unreachable(error), null);
      openTunnel(socket, request.join('\r\n') + HEAD_END, (refused) => {
        if (!refused) return connect({ ...target, httpSocket: socket }, callback);
        socket.destroy();
        callback(refused, null);
      });
    });
  };
}

function openTunnel(socket: Socket, request: string, done: (refused?: ProxyError) => void): void {
  const answer = new ProxyAnswer();
  const end = (refused?: ProxyError): void => {
    clearTimeout(timer);
    socket.off('readable', onReadable).off('end', onEnd).off('close', onEnd).off('error', onError);
    done(refused);
  };
  const onReadable = (): void => {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) {
      const result = answer.take(chunk);
      if (!result) continue;
      if (result instanceof ProxyError) return void end(result);
      if (result.length) socket.unshift(result);
      return void end();
    }
  };
  const onEnd = (): void =>
    end(new ProxyError('the proxy closed the connection without opening a tunnel', true));
  const onError = (cause: Error): void =>
    end(new ProxyError('the proxy dropped the connection without opening a tunnel', true, { cause }));
  const onTimeout = (): void => end(new ProxyError('the proxy did not answer in time', true));
  const timer = setTimeout(onTimeout, TUNNEL_LIMIT_MS);
  socket.on('readable', onReadable).on('end', onEnd).on('close', onEnd).on('error', onError);
  socket.write(request);
}

class ProxyAnswer {
  readonly #start = new ResponseHead();
  #head = Buffer.alloc(0);

  /** Takes what came; returns what follows the answer once there is a tunnel, or why there will be none. */
  take(chunk: Buffer): Buffer | ProxyError | undefined {
    try {
      const bytes = this.#head.length ? chunk : this.#start.take(chunk);
      return bytes && this.#read(bytes);
    } catch (cause) {
      return new ProxyError("the proxy's answer is not HTTP", false, { cause });
    }
  }

  #read(bytes: Buffer): Buffer | ProxyError | undefined {
    this.#head = Buffer.concat([this.#head, bytes]);
    const status = Number(this.#head.toString('latin1', 9, 12));
    if (status >= 300)
      return new ProxyError(`the proxy refused the tunnel (HTTP ${status})`, isTransient(status), { status });
    const end = this.#head.indexOf(HEAD_END);
    if (end >= 0) return this.#head.subarray(end + HEAD_END.length);
    return this.#head.length > MAX_HEAD_BYTES
      ? new ProxyError("the headers of the proxy's answer are too large", false)
      : undefined;
  }
}

/** What a status line begins with. A partial one is completed with it, so that only the bytes that came decide. */
const SAMPLE = 'HTTP/1.1 200 ';
const statusLine = /^HTTP\/(?:0\.9|1\.[01]|2\.0) ([1-9]\d\d)[ \r\n]/;

const [LF, CR] = [10, 13];
const TLS_RECORD_TYPES = new Set([0x14, 0x15, 0x16, 0x17]);

/**
 * Finds where the response begins. A service may send informational heads (1xx) before it, also without being asked;
 * undici ends the connection at a 100, and at a status below 100 it fails an assertion of its own.
 */
export class ResponseHead {
  #held: Buffer = Buffer.alloc(0);
  /** Inside an informational head. */
  #skipping = false;

  /** Takes what came; returns the bytes from the status line of the response on, once that has come. */
  take(chunk: Buffer): Buffer | undefined {
    let bytes = this.#held.length ? Buffer.concat([this.#held, chunk]) : chunk;
    for (;;) {
      if (this.#skipping) bytes = this.#skip(bytes);
      if (this.#skipping) break;
      bytes = withoutBlankLines(bytes);
      const status = statusIn(bytes);
      if (bytes.length < SAMPLE.length) break;
      if (status >= 200) return bytes;
      this.#skipping = true;
    }
    this.#held = bytes;
    return undefined;
  }

  /** What follows the head; while its end has not come, the bytes that may be a part of that end. */
  #skip(bytes: Buffer): Buffer {
    for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
      const end = at + (bytes[at + 1] === CR ? 2 : 1);
      if (bytes[end] !== LF) continue;
      this.#skipping = false;
      return bytes.subarray(end + 1);
    }
    return bytes.subarray(-2);
  }
}

function statusIn(bytes: Buffer): number {
  const start = bytes.toString('latin1', 0, SAMPLE.length);
  const [, status] = statusLine.exec(start + SAMPLE.slice(start.length)) ?? [];
  if (status === undefined) throw new NotHttpError(TLS_RECORD_TYPES.has(bytes[0] ?? 0));
  return Number(status);
}

function withoutBlankLines(bytes: Buffer): Buffer {
  let start = 0;
  while (bytes[start] === CR || bytes[start] === LF) start += 1;
  return start === 0 ? bytes : bytes.subarray(start);
}
