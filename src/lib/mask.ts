/** The one place that knows what a secret looks like, in whatever encoding it might be printed. */

const STARS = '****';

export class Mask {
  readonly #secrets = new Set<string>();
  #beginnings: RegExp | undefined;
  #pattern: RegExp | undefined;

  /** From now on nothing that goes through `hide` shows this secret. */
  add(secret: string): void {
    if (!secret || this.#secrets.has(secret)) return;
    this.#secrets.add(secret);
    this.#beginnings = undefined;
    this.#pattern = undefined;
  }

  readonly hide = (text: string): string => {
    if (this.#secrets.size === 0) return text;
    // The whole pattern takes a while to make: most texts do not hold even the beginning of a secret.
    this.#beginnings ??= this.#match(4);
    if (text.search(this.#beginnings) < 0) return text;
    this.#pattern ??= this.#match();
    return text.replace(this.#pattern, STARS);
  };

  /** Longer secrets first, so that one that begins with another is hidden whole. */
  #match(characters?: number): RegExp {
    const longestFirst = [...this.#secrets].sort((a, b) => b.length - a.length);
    return new RegExp(longestFirst.flatMap((secret) => encodings(secret, characters)).join('|'), 'g');
  }
}

/** A secret as people may see it: enough to tell two long ones apart. */
export const masked = (secret: string): string => STARS + (secret.length >= 16 ? secret.slice(-4) : '');

/** What a secret, or so many characters at its beginning, looks like. */
function encodings(secret: string, characters = Number.POSITIVE_INFINITY): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const plain = written([...secret].slice(0, characters));
  // A very short secret is hidden only where it stands alone, or it would take words apart.
  if (secret.length < 5) return [`(?<![\\w-])${plain}(?![\\w-])`];
  const hexadecimal = anyCase(bytes.toString('hex').slice(0, characters * 2));
  return [plain, hexadecimal, ...base64Forms(bytes).map((form) => inBase64(form.slice(0, characters)))];
}

/** A text of which every character may be written as it is or escaped for a URL, JSON or HTML. */
function written(characters: readonly string[]): string {
  return characters.map((character) => `(?:${spellings(character).join('|')})`).join('');
}

function spellings(character: string): string[] {
  const code = character.codePointAt(0) ?? 0;
  const percent = [...Buffer.from(character)].map((byte) => `%(?:25)*${anyCase(hex(byte, 2))}`).join('');
  const units = character.split('').map((unit) => unit.charCodeAt(0));
  const json = units.map((unit) => `\\\\+u${anyCase(hex(unit, 4))}`).join('');
  const html = `&(?:amp;)*(?:#0*${code}|#[xX]0*${anyCase(code.toString(16))}${named[character] ?? ''});`;
  const escaped = /["'/\\]/.test(character) ? [`\\\\+${literal(character)}`] : [];
  return [html, percent, json, ...escaped, literal(character)];
}

const named: Readonly<Record<string, string>> = {
  '&': '|amp',
  '<': '|lt',
  '>': '|gt',
  '"': '|quot',
  "'": '|apos',
};

/** The URL-safe alphabet writes two characters otherwise, and a URL or JSON escapes one or both. */
const inBase64 = (form: string): string =>
  form.replaceAll('/', '(?:\\\\*/|_|%(?:25)*2[fF])').replaceAll('+', '(?:[+ -]|%(?:25)*2[bB]|\\\\+u002[bB])');

/** Base64 of a text that holds the secret shows it in one of three shapes, by where in the text it stands. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].map((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes]);
    const exact = Math.floor((whole.length * 8) / 6);
    return whole.toString('base64').slice(Math.ceil((offset * 8) / 6), exact);
  });
}

const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');

/** Hexadecimal digits in capitals or not. */
const anyCase = (digits: string): string =>
  digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
