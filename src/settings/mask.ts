/** The one place that knows what a secret looks like, in whatever encoding it might be printed. */

const STARS = '****';

export class Mask {
  readonly #secrets = new Set<string>();
  #shortest = Number.POSITIVE_INFINITY;
  #pattern: RegExp | undefined;

  /** From now on nothing that goes through `hide` shows this secret. */
  add(secret: string): void {
    if (!secret || this.#secrets.has(secret)) return;
    this.#secrets.add(secret);
    this.#shortest = Math.min(this.#shortest, secret.length);
    this.#pattern = undefined;
  }

  readonly hide = (text: string): string => {
    // No encoding is shorter than what it encodes, and the pattern takes a while to make.
    if (text.length < this.#shortest) return text;
    this.#pattern ??= this.#makePattern();
    return text.replace(this.#pattern, STARS);
  };

  /** Longer secrets first, so that one that begins with another is hidden whole. */
  #makePattern(): RegExp {
    const longestFirst = [...this.#secrets].sort((a, b) => b.length - a.length);
    return new RegExp(longestFirst.flatMap(encodings).join('|'), 'g');
  }
}

/** A secret as people may see it: enough to tell two long ones apart. */
export const masked = (secret: string): string => STARS + (secret.length >= 16 ? secret.slice(-4) : '');

function encodings(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const plain = written(secret);
  // A very short secret is hidden only where it stands alone, or it would take words apart.
  if (secret.length < 5) return [`(?<![\\w-])${plain}(?![\\w-])`];
  return [plain, anyCase(bytes.toString('hex')), ...base64Forms(bytes).map((form) => written(form))];
}

/** A text of which every character may be written as it is or escaped for a URL, JSON or HTML. */
function written(text: string): string {
  return [...text].map((character) => `(?:${spellings(character).join('|')})`).join('');
}

function spellings(character: string): string[] {
  const code = character.codePointAt(0) ?? 0;
  const percent = [...Buffer.from(character)].map((byte) => `%(?:25)*${anyCase(hex(byte, 2))}`).join('');
  const units = character.split('').map((unit) => unit.charCodeAt(0));
  const json = units.map((unit) => `\\\\+u${anyCase(hex(unit, 4))}`).join('');
  const html = `&(?:amp;)*(?:#0*${code}|#[xX]0*${anyCase(code.toString(16))}${named[character] ?? ''});`;
  const escaped = /["'/\\]/.test(character) ? [`\\\\+${literal(character)}`] : [];
  return [html, percent, json, ...escaped, base64Twin[character] ?? literal(character)];
}

const named: Readonly<Record<string, string>> = {
  '&': '|amp',
  '<': '|lt',
  '>': '|gt',
  '"': '|quot',
  "'": '|apos',
};

/** The URL-safe alphabet of base64 writes these two otherwise. */
const base64Twin: Readonly<Record<string, string>> = { '+': '[+-]', '/': '[/_]' };

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
