/** Tells trouble with one file from trouble with the service: asks it something that names no file. */
import { getBalance } from '../../api/account.ts';
import type { Transport } from '../../api/http/transport.ts';
import { monotonicMs } from '../../lib/clock.ts';
import { StenoError } from '../../lib/errors.ts';

/** How long an answer holds: any number of events may ask. */
const VALID_MS = 10_000;

export class ServiceCheck {
  readonly #transport: Transport;
  #validUntilMs = Number.NEGATIVE_INFINITY;
  #latest: Promise<StenoError | undefined> = Promise.resolve(undefined);

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** A call about a file has worked, so the service and the key do. */
  noteSuccess(): void {
    this.#keep(Promise.resolve(undefined));
  }

  /** After an error about a file: what is wrong with the service or the key; undefined: it is about this file alone. */
  async troubleBehind(error: unknown): Promise<StenoError | undefined> {
    if (!(error instanceof StenoError) || !mayConcernAll(error)) return undefined;
    if (monotonicMs() >= this.#validUntilMs) this.#keep(this.#ask());
    return this.#latest;
  }

  #keep(answer: Promise<StenoError | undefined>): void {
    this.#latest = answer;
    this.#validUntilMs = monotonicMs() + VALID_MS;
  }

  async #ask(): Promise<StenoError | undefined> {
    try {
      await getBalance(this.#transport);
    } catch (error) {
      if (error instanceof StenoError && mayConcernAll(error)) {
        // The next event asks again: it may be over by then.
        this.#validUntilMs = Number.NEGATIVE_INFINITY;
        return error;
      }
    }
    return undefined;
  }
}

const mayConcernAll = ({ kind, status = 0 }: StenoError): boolean =>
  kind === 'network' || kind === 'timeout' || kind === 'auth' || status === 429 || status >= 500;
