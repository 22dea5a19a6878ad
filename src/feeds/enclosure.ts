/** Which of the files of an entry is its audio, and where it is. */

import { isUrl } from '../lib/is-url.ts';
import { hasHidden } from '../lib/text.ts';
import type { Link } from './entries.ts';

export interface Enclosure {
  /** Absolute; as the feed spells it where that is possible. */
  readonly url: string;
  readonly type: string | undefined;
  readonly bytes: number | undefined;
}

const audioEndings =
  /\.(?:mp3|m4[abpv]|mp4|mp2|mpga|aac|og[agv]|opus|spx|wave?|flac|wma|wmv|webm|mk[av]|aiff?|aifc|amr|3gpp?|3g2|caf|mov|mpe?g|avi|ac3|au|ra|rm)$/i;

/** A feed may offer one episode in several formats: the first audio counts, or the first video. */
export function chooseEnclosure(all: readonly Link[]): Link | undefined {
  return all.find((each) => kindOf(each) === 'audio') ?? all.find((each) => kindOf(each) === 'video');
}

/** By the type; one that says nothing, or is misspelled, leaves it to the ending of the path. */
function kindOf({ type, url }: Link): 'audio' | 'video' | undefined {
  const [, main] = /^([a-z]+)\//i.exec(type) ?? [];
  const name = main?.toLowerCase();
  if (name === 'audio' || name === 'video') return name;
  if (name !== undefined && name !== 'application' && name !== 'binary') return undefined;
  const [path = ''] = url.split(/[?#]/, 1);
  if (/^application\/(?:pdf|epub|zip|json|xml)/i.test(type)) return undefined;
  return audioEndings.test(path) ? 'audio' : undefined;
}

/** An absolute http or https URL; undefined where the text is none, and nothing says what it is relative to. */
export function absoluteUrl({ url, base }: Link, documentUrl: string | undefined): string | undefined {
  const parent = base !== undefined && isUrl(base) ? base : documentUrl;
  if (!isUrl(url, parent)) return undefined;
  const { protocol, href } = new URL(url, parent);
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  const isPlain = /^https?:\/\/[^\s\u0000-\u0020\u007f-\u009f]+$/i.test(url) && !hasHidden(url);
  return isPlain ? url : href;
}

export const enclosureOf = ({ type, length }: Link, url: string): Enclosure => ({
  url,
  type: type || undefined,
  bytes: /^[1-9]\d{0,14}$/.test(length) ? Number(length) : undefined,
});
