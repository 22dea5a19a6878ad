/** Types for the inner files of undici that undici.ts imports. */
declare module 'undici/lib/api/api-connect.js' {
  import type { Dispatcher } from 'undici';
  export default Dispatcher.prototype.connect;
}
declare module 'undici/lib/core/connect.js' {
  import type { Socket, TcpNetConnectOpts } from 'node:net';
  import type { buildConnector } from 'undici';

  /** undici's own type requires a port here, which it takes from each target. */
  const build: (
    options: Pick<TcpNetConnectOpts, 'timeout' | 'signal' | 'lookup'>,
  ) => (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;
  export default build;
}
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
declare module 'undici/lib/dispatcher/proxy-agent.js' {
  export { ProxyAgent as default } from 'undici';
}
