/** Connections through a proxy's tunnel (CONNECT). */
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { basicAuth } from './basic-auth.ts';
import { NotHttpError, ProxyError } from './network-errors.ts';
import { ResponseHead } from './response-head.ts';
import { isTransient } from './status.ts';

type Connector = buildConnector.connector;

const ANSWER_LIMIT_MS = 15_000;
const MAX_HEAD_BYTES = 65_536;
const HEAD_END = '\r\n\r\n';

/**
 * undici's ProxyAgent is not used: if the proxy closes the connection after CONNECT, it connects again at once, without
 * end. Any error with undici's code UND_ERR_SOCKET has that effect here, so this gives errors of its own.
 */
export function tunnelConnector(connect: Connector, proxy: URL): Connector {
  const address = {
    protocol: proxy.protocol,
    host: proxy.host,
    hostname: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port,
  };
  const credentials = basicAuth(proxy);
  return (target, callback) => {
    const authority = `${target.host}${target.port ? '' : ':443'}`;
    const request = [`CONNECT ${authority} HTTP/1.1`, `host: ${authority}`, 'proxy-connection: keep-alive'];
    if (credentials) request.push(`proxy-authorization: ${credentials}`);
    connect(address, (...[error, socket]) => {
      if (error) return callback(ProxyError.unreachable(error), null);
      openTunnel(socket, `${request.join('\r\n')}\r\n\r\n`, (refused) => {
        if (!refused) return connect({ ...target, httpSocket: socket }, callback);
        socket.destroy();
        callback(refused, null);
      });
    });
  };
}

function openTunnel(socket: Socket, request: string, done: (error?: ProxyError) => void): void {
  const answer = new ProxyAnswer();
  const end = (error?: ProxyError): void => {
    clearTimeout(timer);
    socket.off('readable', onReadable).off('end', onEnd).off('close', onEnd).off('error', onError);
    done(error);
  };
  const onReadable = (): void => {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) {
      const result = answer.take(chunk);
      if (!result) continue;
      if (result.rest?.length) socket.unshift(result.rest);
      end(result.error);
      return;
    }
  };
  const onEnd = (): void => end(new ProxyError('the proxy closed the connection and made no tunnel', true));
  const onError = (cause: Error): void =>
    end(new ProxyError('the proxy broke off the connection and made no tunnel', true, { cause }));
  const onTimeout = (): void => end(new ProxyError('the proxy did not answer in time', true));
  const timer = setTimeout(onTimeout, ANSWER_LIMIT_MS);
  socket.on('readable', onReadable).on('end', onEnd).on('close', onEnd).on('error', onError);
  socket.write(request);
}

interface TunnelResult {
  /** Why there is no tunnel. */
  readonly error?: ProxyError;
  /** What came behind the proxy's answer. */
  readonly rest?: Buffer;
}

class ProxyAnswer {
  readonly #start = new ResponseHead();
  #head = Buffer.alloc(0);

  /** Takes what came; returns what came of it, once that is known. */
  take(chunk: Buffer): TunnelResult | undefined {
    try {
      const bytes = this.#head.length ? chunk : this.#start.take(chunk);
      return bytes && this.#read(bytes);
    } catch (error) {
      if (!(error instanceof NotHttpError)) throw error;
      return { error: new ProxyError("the proxy's answer is not HTTP", false, { cause: error }) };
    }
  }

  #read(bytes: Buffer): TunnelResult | undefined {
    this.#head = Buffer.concat([this.#head, bytes]);
    const status = Number(this.#head.toString('latin1', 9, 12));
    if (status >= 300)
      return {
        error: new ProxyError(`the proxy refused the tunnel (HTTP ${status})`, isTransient(status), {
          status,
        }),
      };
    const end = this.#head.indexOf(HEAD_END);
    if (end >= 0) return { rest: this.#head.subarray(end + HEAD_END.length) };
    return this.#head.length > MAX_HEAD_BYTES
      ? { error: new ProxyError("the headers of the proxy's answer are too large", false) }
      : undefined;
  }
}
