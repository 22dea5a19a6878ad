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
  readonly #bodies = new Map<string, RawBody>();
  #bytes = 0;

  constructor(targets: number) {
    this.#targets = targets;
  }

  /** Keeps the body of a delivery by the id that it got on arrival; the oldest ones give way. */
  set(arrival: string, body: Uint8Array): void {
    this.delete(arrival);
    if (this.#targets === 0 || body.byteLength > MAX_TOTAL_BYTES) return;
    this.#bodies.set(arrival, { body, uses: this.#targets });
    this.#bytes += body.byteLength;
    for (const [oldest] of this.#bodies) {
      if (this.#bytes <= MAX_TOTAL_BYTES) return;
      this.delete(oldest);
    }
  }

  get(arrival: string): Uint8Array | undefined {
    return this.#bodies.get(arrival)?.body;
  }

  get isEmpty(): boolean {
    return this.#bodies.size === 0;
  }

  /** One target needs it no longer. */
  release(arrival: string): void {
    const held = this.#bodies.get(arrival);
    if (!held) return;
    if (held.uses > 1) this.#bodies.set(arrival, { ...held, uses: held.uses - 1 });
    else this.delete(arrival);
  }

  delete(arrival: string): void {
    this.#bytes -= this.#bodies.get(arrival)?.body.byteLength ?? 0;
    this.#bodies.delete(arrival);
  }
}
