import type { Socket } from 'node:net';
import { openFilesLimit } from '../lib/processes.ts';

/** Connections that wait for a request, beside any number whose request is being kept. */
const MAX_WAITING = 500;
/** Files of the ledger, connections to the service and to targets, and pipes of commands. */
const OTHER_FILES = 64;

/** Half of what is left is for requests that are being kept. */
const maxWaiting = (): number =>
  Math.max(4, Math.min(MAX_WAITING, Math.floor((openFilesLimit() - OTHER_FILES) / 2)));

interface Connection {
  readonly socket: Socket;
  /** It has delivered an event. */
  isKnown: boolean;
  /** How many of its requests are being kept: a client may send the next one before the answer. */
  busy: number;
  /** By this the connection that has waited longest is found. */
  waitsSince: number;
}

/**
 * Makes room for a new connection where too many wait, silent, slow or idle: the one that has waited longest is closed.
 * Connections that have delivered an event and those that have not get half of the room each, so that strangers who
 * only connect never close the connection over which the service sends.
 */
export class ConnectionLimit {
  readonly #maxWaiting = maxWaiting();
  readonly #connections = new Map<Socket, Connection>();
  /** Of those that wait: how many have delivered an event, and how many have not. */
  #known = 0;
  #new = 0;
  /** Counts up: a clock could stand still between two connections. */
  #waits = 0;
  /** With TLS: the TCP connections by the address of their other end. */
  readonly #underTls = new Map<string, Socket>();

  /** Takes a new connection; with TLS as it is before its handshake, which a silent one never ends. */
  add(socket: Socket, isTls: boolean): void {
    socket.once('close', () => this.#delete(socket));
    const connection = { socket, isKnown: false, busy: 0, waitsSince: 0 };
    this.#connections.set(socket, connection);
    this.#beginWait(connection);
    if (isTls) {
      const address = addressOf(socket);
      this.#underTls.set(address, socket);
      socket.once('close', () => {
        if (this.#underTls.get(address) === socket) this.#underTls.delete(address);
      });
    }
    if (this.#new + this.#known <= this.#maxWaiting) return;
    const oldest = this.#longestWaiting(this.#new <= this.#maxWaiting / 2);
    // It no longer counts: more may come before its end is told.
    if (oldest) this.#delete(oldest);
    oldest?.destroy();
  }

  /** A whole request has come: its connection must not be closed. */
  setBusy(socket: Socket): void {
    const connection = this.#connectionOf(socket);
    if (!connection) return;
    if (connection.busy === 0) this.#endWait(connection);
    connection.busy += 1;
  }

  /** The request is answered; `delivered` if an event was kept. */
  setIdle(socket: Socket, delivered: boolean): void {
    const connection = this.#connectionOf(socket);
    if (!connection) return;
    connection.busy -= 1;
    if (connection.busy > 0) return;
    connection.isKnown = delivered;
    this.#beginWait(connection);
  }

  #beginWait(connection: Connection): void {
    this.#waits += 1;
    connection.waitsSince = this.#waits;
    if (connection.isKnown) this.#known += 1;
    else this.#new += 1;
  }

  #endWait({ isKnown }: Connection): void {
    if (isKnown) this.#known -= 1;
    else this.#new -= 1;
  }

  #longestWaiting(known: boolean): Socket | undefined {
    let oldest: Connection | undefined;
    for (const each of this.#connections.values())
      if (each.busy === 0 && each.isKnown === known && !(oldest && oldest.waitsSince < each.waitsSince))
        oldest = each;
    return oldest?.socket;
  }

  /** A request comes over the TLS socket; what can be closed at any time is the connection below it. */
  #connectionOf(socket: Socket): Connection | undefined {
    const below = this.#underTls.size > 0 ? this.#underTls.get(addressOf(socket)) : undefined;
    return this.#connections.get(below ?? socket);
  }

  #delete(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (!this.#connections.delete(socket) || !connection) return;
    if (connection.busy === 0) this.#endWait(connection);
  }
}

const addressOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
