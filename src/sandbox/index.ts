/** The whole service of the API document, on loopback: for newcomers, for users' own tests, and for ours. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StenoError } from '../lib/errors.ts';
import { Courier } from './delivery.ts';
import type { Fault } from './faults.ts';
import { type Moved, move, release } from './release.ts';
import { BASE } from './routes.ts';
import { makeServer, SANDBOX_KEY } from './server.ts';
import { openStore, startAfresh, withStore } from './store.ts';

export { type Fault, parseFault } from './faults.ts';
export type { Moved } from './release.ts';
export { scenarios } from './scenarios.ts';
export { SANDBOX_KEY };

export interface SandboxOptions {
  /** Where its data lives; absent, it keeps nothing. */
  readonly folder?: string;
  readonly host?: string;
  /** 0: any free port. */
  readonly port?: number;
  /** 1: a file's whole life takes about five seconds; 2: half of that; 0: files move only when told to. */
  readonly speed?: number;
  readonly faults?: readonly Fault[];
}

export interface Sandbox {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Takes no more calls, and lets the events that are under way arrive. */
  close(): Promise<void>;
}

const LAST_CALLS_MS = 2_000;

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { folder, host = '127.0.0.1', port = 0, speed = 1, faults = [] } = options;
  const db = await openStore(folder);
  const courier = new Courier(db);
  const server = makeServer({ db, speed, faults, changed: () => setImmediate(() => courier.sendDue()) });
  try {
    await listen(server, host, port);
  } catch (error) {
    db.close();
    throw error;
  }
  courier.start();
  const close = async (): Promise<void> => {
    await stop(server);
    await courier.close();
    db.close();
  };
  let closing: Promise<void> | undefined;
  return { baseUrl: urlOf(server), apiKey: SANDBOX_KEY, close: () => (closing ??= close()) };
}

/** Empties the sandbox, also while other processes use it. */
export const resetSandbox = (folder: string): Promise<void> => withStore(folder, ({ db }) => startAfresh(db));

/** Ends a hold; tells where the order's files are now. */
export const releaseHold = (folder: string, order: string): Promise<Moved[]> =>
  withStore(folder, (moment) => release(moment, order));

/** Moves the given files (without any: all that are under way) to their next state, and tells where they are now. */
export const advance = (folder: string, ids: readonly string[] = []): Promise<Moved[]> =>
  withStore(folder, (moment) => move(moment, ids));

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const hint = error.code === 'EADDRINUSE' ? 'choose another with --port' : undefined;
      reject(
        new StenoError('failed', `can not listen on ${host}:${port}: ${error.message}`, {
          hint,
          cause: error,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}${BASE}`;
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), LAST_CALLS_MS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
