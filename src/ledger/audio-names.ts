/** An audio of an order, with its names: an order claims every name of each of its audios. */
import { audioIdentity, contentKey, keyName, urlName } from '../lib/names.ts';
import type { AudioDetails } from './audio-details.ts';

export { spellingOf, storedName, urlName } from '../lib/names.ts';

/** One audio of an order. */
export interface Audio {
  readonly url: string;
  /** What tells it from others in place of its URL. */
  readonly key?: string | undefined;
  readonly names: readonly string[];
  readonly details?: AudioDetails | undefined;
}

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

/** A file of this machine is known by its content; when it is uploaded, also by its URL. */
export function makeFile(url: string, sha256: string, details: AudioDetails): Audio {
  const key = contentKey(sha256);
  return { url, key, names: [keyName(key)], details };
}
