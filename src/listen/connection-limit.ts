import type { Socket } from 'node:net';

/** Connections that wait for a request, beside any number whose request is being kept. */
const MAX_WAITING = 500;

/**
 * Makes room for a new connection where too many wait, silent, slow or idle: the one that has waited longest is closed.
 * Connections that have delivered an event and those that have not get half of the room each, so that strangers who
 * only connect never close the connection over which the service sends.
 */
export class ConnectionLimit {
  /** In the order in which they were opened. */
  readonly #new = new Set<Socket>();
  /** Have delivered an event; in the order of their last one. */
  readonly #known = new Set<Socket>();
  /** How many requests of a connection are being kept: a client may send the next one before the answer. */
  readonly #busy = new Map<Socket, number>();
  /** With TLS: the TCP connections by the address of their other end. */
  readonly #underTls = new Map<string, Socket>();

  /** Takes a new connection; with TLS as it is before its handshake, which a silent one never ends. */
  add(socket: Socket, isTls: boolean): void {
    socket.once('close', () => this.#delete(socket));
    this.#new.add(socket);
    if (isTls) {
      const address = addressOf(socket);
      this.#underTls.set(address, socket);
      socket.once('close', () => {
        if (this.#underTls.get(address) === socket) this.#underTls.delete(address);
      });
    }
    if (this.#new.size + this.#known.size <= MAX_WAITING) return;
    const [oldest] = this.#new.size > MAX_WAITING / 2 ? this.#new : this.#known;
    // It no longer counts: more may come before its end is told.
    if (oldest) this.#delete(oldest);
    oldest?.destroy();
  }

  /** A whole request has come: its connection must not be closed. */
  setBusy(socket: Socket): void {
    const connection = this.#connectionOf(socket);
    this.#busy.set(connection, (this.#busy.get(connection) ?? 0) + 1);
    this.#new.delete(connection);
    this.#known.delete(connection);
  }

  /** The request is answered; `delivered` if an event was kept. */
  setIdle(socket: Socket, delivered: boolean): void {
    const connection = this.#connectionOf(socket);
    const left = (this.#busy.get(connection) ?? 0) - 1;
    if (left > 0) this.#busy.set(connection, left);
    else this.#busy.delete(connection);
    if (left <= 0 && !connection.destroyed) (delivered ? this.#known : this.#new).add(connection);
  }

  /** A request comes over the TLS socket; what can be closed at any time is the connection below it. */
  #connectionOf(socket: Socket): Socket {
    return (this.#underTls.size > 0 && this.#underTls.get(addressOf(socket))) || socket;
  }

  #delete(socket: Socket): void {
    this.#new.delete(socket);
    this.#known.delete(socket);
    this.#busy.delete(socket);
  }
}

const addressOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
