/** Keeps texts so that only the holder of a secret can read them again. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes, scryptSync } from 'node:crypto';

const PREFIX = 'sealed:';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export const isSealed = (text: string): boolean => text.startsWith(PREFIX);

export class Sealer {
  readonly #cipherKey: Buffer;
  readonly #markKey: Buffer;

  /** Slow on purpose (40 ms): the secret must not be found by trying. */
  constructor(secret: string, salt: string) {
    const derived = scryptSync(secret, salt, 2 * KEY_BYTES);
    this.#cipherKey = derived.subarray(0, KEY_BYTES);
    this.#markKey = derived.subarray(KEY_BYTES);
  }

  /** The same for the same text and secret, and telling neither. */
  mark(text: string): string {
    return createHmac('sha256', this.#markKey).update(text).digest('hex').slice(0, 32);
  }

  seal(text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#cipherKey, nonce);
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
  }

  /** Undefined where another secret has sealed it. */
  open(sealed: string): string | undefined {
    const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64');
    const body = NONCE_BYTES + TAG_BYTES;
    try {
      const cipher = createDecipheriv(CIPHER, this.#cipherKey, bytes.subarray(0, NONCE_BYTES));
      cipher.setAuthTag(bytes.subarray(NONCE_BYTES, body));
      return cipher.update(bytes.subarray(body), undefined, 'utf8') + cipher.final('utf8');
    } catch {
      return undefined;
    }
  }
}
