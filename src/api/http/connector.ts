/** Makes connections for undici, direct or through a proxy, and takes out of them what undici can't read. */
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { BeforeSend } from './call.ts';
import { ProxyError } from './network-errors.ts';
import { ResponseHead } from './response-head.ts';
import { tunnelConnector } from './tunnel.ts';

type Connector = buildConnector.connector;

/** `connect` is undici's own connector. undici writes the request as soon as it is given the connection. */
export function makeConnector(
  connect: Connector,
  proxy: URL | undefined,
  tunnels: boolean,
  beforeSend?: BeforeSend,
): Connector {
  const open = proxy ? proxyConnector(connect, proxy, tunnels) : connect;
  return (target, callback) =>
    open(target, (...[error, socket]) => {
      if (error) return callback(error, null);
      const check = beforeSend?.();
      const use = (): void => callback(null, fromResponseOn(socket));
      if (!check) return use();
      check.then(use, (refusal: Error) => {
        socket.destroy();
        callback(refusal, null);
      });
    });
}

const proxyConnector = (connect: Connector, proxy: URL, tunnels: boolean): Connector =>
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
function fromResponseOn(socket: Socket): Socket {
  const [read, write] = [socket.read.bind(socket), socket.write.bind(socket)];
  let head: ResponseHead | undefined;
  socket.write = ((...args: Parameters<typeof write>) => {
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
