/** Types for the inner files of undici that undici.ts imports. */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
declare module 'undici/lib/core/connect.js' {
  import type { Socket, TcpNetConnectOpts } from 'node:net';
  import type { buildConnector } from 'undici';

  /** undici's own type requires a port here, which it takes from each target. */
  const build: (
    options: Pick<TcpNetConnectOpts, 'timeout' | 'signal'>,
  ) => (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;
  export default build;
}
