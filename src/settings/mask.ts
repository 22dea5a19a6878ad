/** The one place that knows what a secret looks like, in whatever encoding it might be printed. */

const STARS = '****';

export class Mask {
  readonly #secrets = new Set<string>();
  #pattern: RegExp | undefined;

  /** From now on nothing that goes through `hide` shows this secret. */
  add(secret: string): void {
    if (!secret || this.#secrets.has(secret)) return;
    this.#secrets.add(secret);
    const forms = [...this.#secrets].flatMap(encodings).sort((a, b) => b.source.length - a.source.length);
    this.#pattern = new RegExp(forms.map((form) => form.source).join('|'), 'g');
  }

  hide(text: string): string {
    return this.#pattern ? text.replace(this.#pattern, STARS) : text;
  }
}

/** A secret as people may see it: enough to tell two long ones apart. */
export const masked = (secret: string): string => STARS + (secret.length >= 16 ? secret.slice(-4) : '');

function encodings(secret: string): RegExp[] {
  const bytes = Buffer.from(secret, 'utf8');
  const percent = encodeURIComponent(secret);
  const spelled = new Set([
    secret,
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    new URLSearchParams([['', secret]]).toString().slice(1),
    [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
    secret.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
    secret.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64Forms(bytes),
  ]);
  // A very short secret is hidden only where it stands alone, or it would take words apart.
  const alone = secret.length < 5;
  return [...spelled].map(
    (form) => new RegExp(alone ? `(?<![\\w-])${literal(form)}(?![\\w-])` : literal(form)),
  );
}

/** Base64 of a text that holds the secret shows it in one of three shapes, by where in the text it stands. */
function base64Forms(bytes: Buffer): string[] {
  const inner = [0, 1, 2].map((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes]);
    const exact = Math.floor((whole.length * 8) / 6);
    return whole.toString('base64').slice(Math.ceil((offset * 8) / 6), exact);
  });
  const forms = inner.filter((form) => form.length >= 6);
  return [...forms, ...forms.map((form) => form.replace(/\+/g, '-').replace(/\//g, '_'))];
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
