/** Hands results on in the order of their numbers, each as soon as all before it are there. */
export class InOrder<Item> {
  readonly #onNext: (item: Item) => void;
  /** Those that came before their turn; nothing stands for one that gave no result. */
  readonly #early = new Map<number, Item | undefined>();
  #next = 0;

  constructor(onNext: (item: Item) => void) {
    this.#onNext = onNext;
  }

  add(at: number, item: Item | undefined): void {
    this.#early.set(at, item);
    for (; this.#early.has(this.#next); this.#next += 1) {
      const next = this.#early.get(this.#next);
      this.#early.delete(this.#next);
      if (next !== undefined) this.#onNext(next);
    }
  }

  /** Hands on what still waits for one that will not come. */
  flush(): void {
    const left = [...this.#early].sort(([one], [other]) => one - other);
    this.#early.clear();
    for (const [, item] of left) if (item !== undefined) this.#onNext(item);
  }
}
