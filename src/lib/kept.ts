import { monotonicMs } from './time.ts';

interface Options {
  readonly max: number;
  /** For as long as the key is the same, unless told. */
  readonly maxAgeMs?: number;
}

/** The last answers to questions that take long. One that failed is asked for again. */
export class Kept<Value> {
  readonly #options: Options;
  readonly #answers = new Map<string, { readonly atMs: number; readonly value: Promise<Value> }>();

  constructor(options: Options) {
    this.#options = options;
  }

  get(key: string, ask: () => Promise<Value>): Promise<Value> {
    const { max, maxAgeMs = Number.POSITIVE_INFINITY } = this.#options;
    const known = this.#answers.get(key);
    if (known && monotonicMs() - known.atMs < maxAgeMs) return known.value;
    const value = ask();
    this.#answers.delete(key);
    this.#answers.set(key, { atMs: monotonicMs(), value });
    value.catch(() => this.#answers.delete(key));
    const [oldest = ''] = this.#answers.keys();
    if (this.#answers.size > max) this.#answers.delete(oldest);
    return value;
  }
}
