/** What the service said of files, on its way into the ledger. A shared ledger gets many answers at a time. */
import { StenoError } from '../lib/errors.ts';
import type { Files, ServiceAnswer } from './files.ts';

/** How many answers are written together, and how long the first of them may wait for the others. */
export interface Gathering {
  readonly count: number;
  readonly waitMs: number;
}

/** A write to a file of this machine is cheap: only what comes at the same moment shares one. */
export const AT_ONCE: Gathering = { count: 50, waitMs: 0 };
/** Two round trips write them all. An answer that is lost with a crash is asked for again. */
export const IN_BATCHES: Gathering = { count: 400, waitMs: 5_000 };

const MAX_ANSWERS_PER_WRITE = 500;

interface Waiting {
  readonly answer: ServiceAnswer;
  readonly onWritten: (previousState: string | undefined) => void;
  readonly onError: (error: unknown) => void;
}

export class AnswerWriter {
  readonly #files: Files;
  readonly #gathering: Gathering;
  readonly #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(files: Files, gathering: Gathering) {
    this.#files = files;
    this.#gathering = gathering;
  }

  /** Resolves when it is written, with the state before if it was another. */
  add(answer: ServiceAnswer): Promise<string | undefined> {
    const written = new Promise<string | undefined>((onWritten, onError) => {
      this.#waiting.push({ answer, onWritten, onError });
    });
    if (this.#waiting.length >= this.#gathering.count) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), this.#gathering.waitMs);
    return written;
  }

  /** Waits as long as there is more to write than the ledger takes at a time. */
  async room(): Promise<void> {
    while (this.#writing && this.#waiting.length + 1 >= this.#gathering.count) await this.#writing;
  }

  /** Writes what is left. */
  async finish(): Promise<void> {
    while (this.#writing || this.#waiting.length) {
      this.#write();
      await this.#writing;
    }
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeWaiting().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeWaiting(): Promise<void> {
    do {
      const some = this.#waiting.splice(0, MAX_ANSWERS_PER_WRITE);
      try {
        const states = await this.#update(some.map(({ answer }) => answer));
        for (const [at, { onWritten }] of some.entries()) onWritten(states[at]);
      } catch (error) {
        for (const { onError } of some) onError(error);
      }
    } while (this.#waiting.length >= this.#gathering.count);
  }

  /** Once more after a lost connection: to write an answer twice does no harm. */
  async #update(answers: readonly ServiceAnswer[]): Promise<ReadonlyArray<string | undefined>> {
    try {
      return await this.#files.updateMany(answers);
    } catch (error) {
      if (!(error instanceof StenoError) || error.kind !== 'network') throw error;
      return this.#files.updateMany(answers);
    }
  }
}
