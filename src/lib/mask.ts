/** Takes secrets out of a text, in whatever encoding they stand there. */
import { patternsOf } from './mask-encodings.ts';
import { SecretSearch } from './mask-search.ts';

const STARS = '****';

/** One mask hides any number of secrets, in one pass over the text. */
export class Mask {
  readonly #secrets = new Set<string>();
  #search: SecretSearch | undefined;

  /** From now on nothing that goes through `hide` shows this secret. */
  add(secret: string): void {
    if (!secret || this.#secrets.has(secret)) return;
    this.#secrets.add(secret);
    this.#search = undefined;
  }

  readonly hide = (text: string): string => {
    if (this.#secrets.size === 0) return text;
    this.#search ??= new SecretSearch([...this.#secrets].flatMap(patternsOf));
    const { spans } = this.#search.find(text);
    if (spans.length === 0) return text;
    let shown = '';
    let from = 0;
    for (const { start, end } of spans) {
      shown += text.slice(from, start) + STARS;
      from = end;
    }
    return shown + text.slice(from);
  };
}

/** A secret as people may see it: enough to tell two long ones apart. */
export const masked = (secret: string): string => STARS + (secret.length >= 16 ? secret.slice(-4) : '');
