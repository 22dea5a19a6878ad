/**
 * The names of an audio. Two orders are for the same audio where they share a name, so an order claims every name of
 * each of its audios. A further kind of name (a feed's guid, a file's hash) is one more text in the list.
 */
import { audioIdentity } from '../lib/audio-identity.ts';

/** One audio of an order. */
export interface Audio {
  readonly url: string;
  /** What tells it from others in place of its URL. */
  readonly key?: string | undefined;
  readonly names: readonly string[];
}

export const keyName = (key: string): string => `key ${key.normalize('NFC')}`;

export const urlName = (url: string): string => `url ${audioIdentity(url)}`;

export function makeAudio(url: string, key?: string): Audio {
  return { url, key, names: [key === undefined ? urlName(url) : keyName(key)] };
}

/** Some databases take no longer text into an index. */
const MAX_NAME_BYTES = 1024;

/** A name as the ledger keeps it. */
export function storedName(name: string): string {
  if (name.length * 3 <= MAX_NAME_BYTES || Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  return `${name.slice(0, name.indexOf(' '))} sha256:${sha256(name)}`;
}

/** Tells a URL that was given twice from two that differ in what is not kept. */
export const spellingOf = (url: string): string => sha256(url).slice(0, 16);

/** Loaded on first use: most commands order nothing. */
const sha256 = (text: string): string =>
  process.getBuiltinModule('node:crypto').createHash('sha256').update(text).digest('hex');
