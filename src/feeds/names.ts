/**
 * The names of an episode, beside that of its URL: two orders that share a name are for the same audio, so that a new
 * token or host in the link does not buy an episode twice. All of them hold within their feed alone.
 */
import { createHash } from 'node:crypto';
import { audioIdentity } from '../lib/audio-identity.ts';
import { isUrl } from '../lib/is-url.ts';

/** What tells a feed from others. */
export interface FeedMarks {
  /** `podcast:guid`, which stays when a feed moves. */
  readonly guid: string | undefined;
  readonly selfLink: string | undefined;
  readonly link: string | undefined;
  /** Where the user said it is; a file has none. */
  readonly address: string | undefined;
}

/**
 * What a feed is known by, the best first: its guid and its own address, else the address of its web site, else where
 * it was fetched. With a guid its address counts too, because feeds get a guid late in their life.
 */
export function feedIdentities({ guid, selfLink, link, address }: FeedMarks): string[] {
  const own = [
    ...(guid ? [`guid ${guid.toLowerCase()}`] : []),
    ...(selfLink ? [`feed ${addressOf(selfLink)}`] : []),
  ];
  if (own.length) return own;
  if (link) return [`site ${addressOf(link)}`];
  return address ? [`feed ${addressOf(address)}`] : [];
}

/** Without its query, which may hold a token, and its scheme: feeds move from http to https. */
function addressOf(text: string): string {
  const url = new URL(text);
  url.search = '';
  url.username = '';
  return audioIdentity(url.href)
    .replace(/^https?:\/\//, '')
    .replace(/\/+$/, '');
}

/** What an episode is named by. */
export interface Named {
  readonly guid: string | undefined;
  readonly title: string;
  readonly published: string | undefined;
  readonly url: string | undefined;
}

/** The names of each episode. What two of them share names neither. */
export function episodeNames(episodes: readonly Named[], identities: readonly string[]): string[][] {
  // Private feeds have a token in their address, which must not be kept.
  const feeds = identities.map((identity) =>
    createHash('sha256').update(identity).digest('hex').slice(0, 32),
  );
  const marks = episodes.map((episode) => marksOf(episode, episodes.length));
  const uses = new Map<string, number>();
  for (const mark of marks.flat()) uses.set(mark, (uses.get(mark) ?? 0) + 1);
  return marks.map((own) =>
    own
      .filter((mark) => uses.get(mark) === 1)
      .flatMap((mark) => {
        const [kind, rest] = [mark.slice(0, mark.indexOf(' ')), mark.slice(mark.indexOf(' ') + 1)];
        return feeds.map((feed) => `${kind} ${feed} ${rest}`);
      }),
  );
}

/** `count` is the number of episodes in the feed. */
function marksOf({ guid, title, published, url }: Named, count: number): string[] {
  const path = url && pathMark(url, count);
  return [
    ...(guid ? [`guid ${guidMark(guid)}`] : []),
    ...(path ? [`enclosure ${path}`] : []),
    ...(title && published ? [`title ${published} ${title.normalize('NFC')}`] : []),
  ];
}

/** Some feeds have the link of the audio for a guid, with its token. */
const guidMark = (guid: string): string =>
  /^https?:\/\//i.test(guid) && isUrl(guid) ? audioIdentity(guid) : guid.normalize('NFC');

/**
 * The path without host and query. Where the only episode of a feed has a query, nothing shows that the path alone
 * tells episodes apart: `latest.mp3?id=7` may be another next week.
 */
function pathMark(url: string, count: number): string | undefined {
  const identity = audioIdentity(url);
  const [address = '', query] = identity.split('?', 2);
  const path = address.replace(/^https?:\/\/[^/]*/, '');
  return path === '/' || path === '' || (query !== undefined && count < 2) ? undefined : path;
}
