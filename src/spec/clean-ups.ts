/** What must be undone when the program ends, in whatever way it ends. */

export type CleanUp = () => void | Promise<void>;

export class CleanUps {
  readonly #pending = new Set<CleanUp>();

  /** Returns a function that takes it off the list, for a clean-up that is done before the end. */
  add(cleanUp: CleanUp): () => void {
    this.#pending.add(cleanUp);
    return () => void this.#pending.delete(cleanUp);
  }

  /** The latest first: it may need what came before it. One that fails does not stop the others. */
  async run(): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    for (;;) {
      const next = [...this.#pending].at(-1);
      if (!next) break;
      this.#pending.delete(next);
      try {
        await next();
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure) throw failure.error;
  }
}
