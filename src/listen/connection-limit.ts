import type { Socket } from 'node:net';

/** Closes the connection that has been idle or slow for longest when there are too many. */
export class ConnectionLimit {
  readonly #max: number;
  /** In the order in which they were opened, or last answered. */
  readonly #waiting = new Set<Socket>();

  constructor(max: number) {
    this.#max = max;
  }

  add(socket: Socket): void {
    socket.once('close', () => this.#waiting.delete(socket));
    this.setIdle(socket);
    const [oldest] = this.#waiting;
    if (this.#waiting.size > this.#max) oldest?.destroy();
  }

  /** A whole request has come: this connection must not be closed. */
  setBusy(socket: Socket): void {
    this.#waiting.delete(socket);
  }

  setIdle(socket: Socket): void {
    this.#waiting.delete(socket);
    if (!socket.destroyed) this.#waiting.add(socket);
  }
}
