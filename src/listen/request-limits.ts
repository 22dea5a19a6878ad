/**
 * What unauthenticated clients can make the receiver hold. They choose how many requests there are, how large those get
 * and in what pieces they come, so bodies have one bound for all of them together, and so have connections.
 */
import type { Socket } from 'node:net';
import { openFilesLimit } from '../lib/processes.ts';

export const MAX_BODY_BYTES = 1024 * 1024;
/** Of all requests, from their headers until they are kept. */
const MAX_TOTAL_BYTES = 64 * MAX_BODY_BYTES;
/** What a request takes beside its body: headers, and what Node has for each request and connection. */
const REQUEST_BYTES = 2048;
/** What a chunk takes beside its own bytes. */
const CHUNK_BYTES = 200;
/** Each chunk costs time, so that one-byte chunks cost a thousand times what their bytes do. */
const FREE_CHUNKS = 1_000;
const MIN_BYTES_A_CHUNK = 64;

/** Why a body is not read to its end. */
export type BodyFault = 'tooLarge' | 'tooManyChunks' | 'noRoom';

export class Bodies {
  readonly #unfinished = new Set<Body>();
  #bytes = 0;

  /** Makes room for more of a body; false if there is none, and the body has been given up. */
  reserve(body: Body, bytes: number): boolean {
    this.#unfinished.add(body);
    this.#bytes += bytes;
    body.reserved += bytes;
    while (this.#bytes > MAX_TOTAL_BYTES && this.#unfinished.has(body)) this.#largest().fail('noRoom');
    return this.#unfinished.has(body);
  }

  /** A body that has come whole is never given up. */
  finish(body: Body): void {
    this.#unfinished.delete(body);
  }

  release(body: Body): void {
    this.#unfinished.delete(body);
    this.#bytes -= body.reserved;
    body.reserved = 0;
  }

  /** It gives way first: events are small, and many small bodies can't take the room. Of equals, the oldest. */
  #largest(): Body {
    let largest: Body | undefined;
    for (const body of this.#unfinished) if (!largest || body.reserved > largest.reserved) largest = body;
    return largest as Body;
  }
}

export class Body {
  readonly #bodies: Bodies;
  readonly #onFault: (fault: BodyFault) => void;
  /** Counted against the bound. */
  reserved = 0;
  #chunks: Buffer[] = [];
  #size = 0;

  /** `onFault` is called at most once; nothing may be added after it. */
  constructor(bodies: Bodies, onFault: (fault: BodyFault) => void) {
    this.#bodies = bodies;
    this.#onFault = onFault;
    bodies.reserve(this, REQUEST_BYTES);
  }

  add(chunk: Buffer): void {
    const count = this.#chunks.length + 1;
    const size = this.#size + chunk.length;
    if (size > MAX_BODY_BYTES) this.fail('tooLarge');
    else if (count > FREE_CHUNKS && size < count * MIN_BYTES_A_CHUNK) this.fail('tooManyChunks');
    else if (this.#bodies.reserve(this, chunk.length + CHUNK_BYTES)) {
      this.#chunks.push(chunk);
      this.#size = size;
    }
  }

  /** All of it has come; it counts until it is released. */
  finish(): Buffer {
    this.#bodies.finish(this);
    const [first = Buffer.alloc(0), ...others] = this.#chunks;
    const body = others.length ? Buffer.concat(this.#chunks, this.#size) : first;
    this.#chunks = [];
    return body;
  }

  /** Has no effect a second time. */
  release(): void {
    this.#chunks = [];
    this.#bodies.release(this);
  }

  fail(fault: BodyFault): void {
    this.release();
    this.#onFault(fault);
  }
}

/** Connections that wait for a request, beside any number whose request is being kept. */
const MAX_WAITING = 500;
/** Files of the ledger, connections to the service and to targets, and pipes of commands. */
const OTHER_FILES = 64;

/** Half of what is left is for requests that are being kept. */
const maxWaiting = (): number =>
  Math.max(4, Math.min(MAX_WAITING, Math.floor((openFilesLimit() - OTHER_FILES) / 2)));

interface Connection {
  /** With TLS the one below it, which can be closed at any time: a silent client never ends its handshake. */
  readonly socket: Socket;
  /** How many of its requests are being kept: a client may send the next one before the answer. */
  requests: number;
}

/**
 * Makes room for a new connection where too many wait, silent, slow or idle: the one that has waited longest is closed.
 * Connections that have delivered an event and those that have not get half of the room each, so that clients who only
 * connect never close the connection over which the service sends.
 */
export class ConnectionLimit {
  readonly #maxWaiting = maxWaiting();
  /** By the address of the other end, which a TLS socket and the one below it share. */
  readonly #byAddress = new Map<string, Connection>();
  readonly #bySocket = new WeakMap<Socket, Connection>();
  /** Those that wait and have delivered an event, and those that wait and have not; the longest first. */
  readonly #known = new Set<Connection>();
  readonly #new = new Set<Connection>();

  add(socket: Socket): void {
    const address = addressOf(socket);
    const connection = { socket, requests: 0 };
    this.#byAddress.set(address, connection);
    this.#new.add(connection);
    socket.once('close', () => {
      this.#endWait(connection);
      if (this.#byAddress.get(address) === connection) this.#byAddress.delete(address);
    });
    if (this.#new.size + this.#known.size <= this.#maxWaiting) return;
    const [oldest] = this.#new.size > this.#maxWaiting / 2 ? this.#new : this.#known;
    if (!oldest) return;
    // It no longer counts: more may come before its end is told.
    this.#endWait(oldest);
    oldest.socket.destroy();
  }

  /** A whole request has come: its connection must not be closed. */
  setBusy(socket: Socket): void {
    const connection = this.#connectionOf(socket);
    if (!connection) return;
    connection.requests += 1;
    this.#endWait(connection);
  }

  /** The request is answered; `delivered` if an event was kept. */
  setIdle(socket: Socket, delivered: boolean): void {
    const connection = this.#connectionOf(socket);
    if (!connection) return;
    connection.requests -= 1;
    if (connection.requests > 0 || connection.socket.destroyed) return;
    (delivered ? this.#known : this.#new).add(connection);
  }

  #connectionOf(socket: Socket): Connection | undefined {
    const connection = this.#bySocket.get(socket) ?? this.#byAddress.get(addressOf(socket));
    if (connection) this.#bySocket.set(socket, connection);
    return connection;
  }

  #endWait(connection: Connection): void {
    this.#known.delete(connection);
    this.#new.delete(connection);
  }
}

const addressOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
