/** Numbers in the order in which they were added; those that follow each other take no more room than one. */
export class NumberRanges {
  readonly #ranges: Array<{ from: number; to: number }> = [];
  /** How many ranges at the beginning are used up: to remove each one by itself would move all others. */
  #used = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(n: number): void {
    const last = this.#ranges.at(-1);
    if (last && this.#ranges.length > this.#used && last.to + 1 === n) last.to = n;
    else this.#ranges.push({ from: n, to: n });
    this.#size += 1;
  }

  get first(): number | undefined {
    return this.#ranges[this.#used]?.from;
  }

  removeFirst(): void {
    const range = this.#ranges[this.#used];
    if (!range) return;
    this.#size -= 1;
    range.from += 1;
    if (range.from > range.to) this.#used += 1;
    if (this.#used <= this.#ranges.length / 2) return;
    this.#ranges.splice(0, this.#used);
    this.#used = 0;
  }
}
