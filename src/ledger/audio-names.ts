/**
 * The names of an audio. Two orders are for the same audio where they share a name, so an order claims every name of
 * each of its audios. A further kind of name (a feed's guid, a file's hash) is one more text in the list.
 */
import { audioIdentity } from '../lib/audio-identity.ts';
import { sha256 } from '../lib/sha256.ts';
import type { AudioDetails } from './audio-details.ts';

/** One audio of an order. */
export interface Audio {
  readonly url: string;
  /** What tells it from others in place of its URL. */
  readonly key?: string | undefined;
  readonly names: readonly string[];
  readonly details?: AudioDetails | undefined;
}

const keyName = (key: string): string => `key ${key.normalize('NFC')}`;

export const urlName = (url: string): string => `url ${audioIdentity(url)}`;

export const makeAudio = (url: string, key?: string): Audio => new OneNameAudio(url, key);

/** Makes its name when it is asked for it: a manifest may have a million rows. To be copied member by member. */
class OneNameAudio implements Audio {
  readonly url: string;
  readonly key: string | undefined;
  /** Undefined where it is the URL as it was written, as it mostly is. */
  readonly #identity: string | undefined;

  constructor(url: string, key: string | undefined) {
    const identity = key === undefined ? audioIdentity(url) : url;
    this.url = url;
    this.key = key;
    this.#identity = identity === url ? undefined : identity;
  }

  get names(): readonly string[] {
    return [this.key === undefined ? `url ${this.#identity ?? this.url}` : keyName(this.key)];
  }
}

/** An episode of a feed: beside its URL it is known by what the feed says of it. */
export const makeEpisode = (url: string, names: readonly string[], details: AudioDetails): Audio => ({
  url,
  names: [urlName(url), ...names],
  details,
});

/** A file of this machine is known by its content alone: its URL may be given to another file. */
export function makeFile(url: string, sha256: string, details: AudioDetails): Audio {
  const key = contentKey(sha256);
  return { url, key, names: [keyName(key)], details };
}

const contentKey = (sha256: string): string => `sha256:${sha256}`;

export const isContentName = (name: string): boolean => name.startsWith(keyName(contentKey('')));

/** Some databases take no longer text into an index. */
const MAX_NAME_BYTES = 1024;

/** A name as the ledger keeps it. */
export function storedName(name: string): string {
  if (name.length * 3 <= MAX_NAME_BYTES || Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  return `${name.slice(0, name.indexOf(' '))} sha256:${sha256(name)}`;
}

/** Tells a URL that was given twice from two that differ in what is not kept. */
export const spellingOf = (url: string): string => sha256(url).slice(0, 16);
