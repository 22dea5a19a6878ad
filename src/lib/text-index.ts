/**
 * Finds the place of a text among very many, without keeping the texts: a Map of a million URLs would take 120 MB, this
 * takes 17. What has the same hash is told apart by the texts themselves, which are asked for by their place.
 */
export class TextIndex {
  readonly #textsAt: (place: number) => readonly string[];
  #hashes = new Uint32Array(1024);
  /** By slot: the place plus one; zero where the slot is free. */
  #places = new Uint32Array(1024);
  #count = 0;

  constructor(textsAt: (place: number) => readonly string[]) {
    this.#textsAt = textsAt;
  }

  find(text: string): number | undefined {
    const hash = hashOf(text);
    for (let slot = this.#slot(hash); this.#places[slot]; slot = this.#slot(slot + 1)) {
      const place = (this.#places[slot] as number) - 1;
      if (this.#hashes[slot] === hash && this.#textsAt(place).includes(text)) return place;
    }
    return undefined;
  }

  /** A text that is not there yet. */
  add(text: string, place: number): void {
    if (2 * this.#count >= this.#places.length) this.#grow();
    this.#put(hashOf(text), place + 1);
    this.#count += 1;
  }

  #put(hash: number, entry: number): void {
    let slot = this.#slot(hash);
    while (this.#places[slot]) slot = this.#slot(slot + 1);
    this.#hashes[slot] = hash;
    this.#places[slot] = entry;
  }

  /** The number of slots is a power of two. */
  #slot(number: number): number {
    return number & (this.#places.length - 1);
  }

  #grow(): void {
    const [hashes, places] = [this.#hashes, this.#places];
    this.#hashes = new Uint32Array(2 * hashes.length);
    this.#places = new Uint32Array(2 * places.length);
    for (const [slot, entry] of places.entries()) if (entry) this.#put(hashes[slot] as number, entry);
  }
}

/** FNV-1a, then mixed: its low bits alone would put URLs that count up into neighbouring slots. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
