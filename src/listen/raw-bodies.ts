/**
 * Bodies as they came, of events that are kept without a signature: a forward in the same process sends these. They are
 * in memory only, until every target has them or there are too many of them; a later forward sends what is kept.
 */
const MAX_TOTAL_BYTES = 16 * 1024 * 1024;

interface RawBody {
  readonly body: Uint8Array;
  /** How many targets do not have it yet. */
  readonly uses: number;
}

export class RawBodies {
  readonly #targets: number;
  readonly #bodies = new Map<number, RawBody>();
  #bytes = 0;

  constructor(targets: number) {
    this.#targets = targets;
  }

  /** Keeps the body of an event; the oldest ones give way. */
  set(event: number, body: Uint8Array): void {
    this.delete(event);
    if (this.#targets === 0 || body.byteLength > MAX_TOTAL_BYTES) return;
    this.#bodies.set(event, { body, uses: this.#targets });
    this.#bytes += body.byteLength;
    for (const [oldest] of this.#bodies) {
      if (this.#bytes <= MAX_TOTAL_BYTES) return;
      this.delete(oldest);
    }
  }

  get(event: number): Uint8Array | undefined {
    return this.#bodies.get(event)?.body;
  }

  /** One target needs it no longer. */
  release(event: number): void {
    const held = this.#bodies.get(event);
    if (!held) return;
    if (held.uses > 1) this.#bodies.set(event, { ...held, uses: held.uses - 1 });
    else this.delete(event);
  }

  delete(event: number): void {
    this.#bytes -= this.#bodies.get(event)?.body.byteLength ?? 0;
    this.#bodies.delete(event);
  }
}
