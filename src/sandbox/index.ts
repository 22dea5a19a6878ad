/** The whole service of the API document on loopback: for trying steno out, for users' own tests, and for ours. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startListening } from '../lib/listening.ts';
import { setClock } from '../lib/time.ts';
import { EventSender } from './events.ts';
import type { Fault } from './faults.ts';
import { advanceClock, advanceFiles, type MovedFile, release } from './files.ts';
import { BASE_PATH } from './routes.ts';
import { makeServer, SANDBOX_KEY } from './server.ts';
import { clockAheadMs, openStore, resetStore, withStore } from './store.ts';

export { type Fault, parseFault } from './faults.ts';
export type { MovedFile } from './files.ts';
export { scenarios } from './scenarios.ts';
export { hasStore } from './store.ts';
export { SANDBOX_KEY };

export interface SandboxOptions {
  /** The folder of its data; without one, it keeps nothing. */
  readonly folder?: string;
  readonly host?: string;
  /** 0: any free port. */
  readonly port?: number;
  /** 1: a file is delivered in about five seconds; 2: in half of that; 0: files move only with `advance`. */
  readonly speed?: number;
  readonly faults?: readonly Fault[];
  /** The whole process goes by the sandbox's clock, until it is closed. */
  readonly setsClock?: boolean;
}

export interface Sandbox {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The time by its clock, in milliseconds. */
  now(): number;
  /** Tells the lengths that are known: the service would fetch the audio, the sandbox does not. */
  setLengths(audios: readonly MeasuredAudio[]): void;
  /** Takes no more calls, and sends the events that are due. */
  close(): Promise<void>;
}

export interface MeasuredAudio {
  readonly url: string;
  readonly details?: { readonly seconds?: number | undefined } | undefined;
}

/** To two digits, and never none at all. */
const toMinutes = (seconds: number): number => Math.max(1, Math.round((seconds * 100) / 60)) / 100;

const CLOSE_TIMEOUT_MS = 2_000;

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { folder, host = '127.0.0.1', port = 0, speed = 1, faults = [], setsClock = false } = options;
  const db = await openStore(folder);
  const sender = new EventSender(db);
  const lengths = new Map<string, number>();
  const server = makeServer({
    db,
    host,
    speed,
    faults,
    lengths,
    onChange: () => setImmediate(() => sender.sendDue()),
  });
  try {
    await startListening(server, host, port);
  } catch (error) {
    db.close();
    throw error;
  }
  sender.start();
  const close = async (): Promise<void> => {
    await stop(server);
    await sender.close();
    db.close();
    if (setsClock) setClock(undefined);
  };
  let closing: Promise<void> | undefined;
  let aheadMs = 0;
  const now = (): number => {
    if (!closing) aheadMs = clockAheadMs(db);
    return Date.now() + aheadMs;
  };
  if (setsClock) setClock(now);
  return {
    baseUrl: urlOf(server),
    apiKey: SANDBOX_KEY,
    now,
    setLengths: (audios) => {
      for (const { url, details } of audios)
        if (details?.seconds) lengths.set(url, toMinutes(details.seconds));
    },
    close: () => (closing ??= close()),
  };
}

/** Empties the sandbox; works while other processes use it. */
export const resetSandbox = (folder: string): Promise<void> => withStore(folder, ({ db }) => resetStore(db));

/** Ends a hold; returns the new states of the order's files. */
export const releaseHold = (folder: string, order: string): Promise<MovedFile[]> =>
  withStore(folder, (context) => release(context, order));

/** Moves the given files, or all unfinished ones, to their next state; returns the new states. */
export const advance = (folder: string, ids: readonly string[] = []): Promise<MovedFile[]> =>
  withStore(folder, (context) => advanceFiles(context, ids));

/** Moves the clock, for files, invoices and events alike; returns the files that it moved, with their new states. */
export const advanceBy = (folder: string, milliseconds: number): Promise<MovedFile[]> =>
  withStore(folder, (context) => advanceClock(context, milliseconds));

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}${BASE_PATH}`;
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
