/** Lets one piece of work at a time have something to itself. */
export class Mutex {
  #running: Promise<void> | undefined;

  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when no work is under way; other work may have begun by the time that the caller goes on. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    // Not through idle(): between its end and the next line, another one that waits would begin too.
    while (this.#running !== undefined) await this.#running;
    const done = work();
    const running = done.then(
      () => {},
      () => {},
    );
    this.#running = running;
    try {
      return await done;
    } finally {
      this.#running = undefined;
    }
  }
}
