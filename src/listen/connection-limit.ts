import type { Socket } from 'node:net';

/** Of too many connections, the one that has been silent or slow for longest gives way to the newcomer. */
export class ConnectionLimit {
  readonly #most: number;
  /** In the order of their last sign of sense: a connection, or a request that was answered. */
  readonly #waiting = new Set<Socket>();

  constructor(most: number) {
    this.#most = most;
  }

  enter(socket: Socket): void {
    socket.once('close', () => this.#waiting.delete(socket));
    this.idle(socket);
    const [longest] = this.#waiting;
    if (this.#waiting.size > this.#most) longest?.destroy();
  }

  /** A whole request has come: this one is not to be cut off. */
  busy(socket: Socket): void {
    this.#waiting.delete(socket);
  }

  idle(socket: Socket): void {
    this.#waiting.delete(socket);
    if (!socket.destroyed) this.#waiting.add(socket);
  }
}
