/**
 * The names of an episode, beside that of its URL: two orders that share a name are for the same audio, so that a new
 * token or host in the link does not buy an episode twice. They hold within their feed; only a guid that no other show
 * can have holds everywhere.
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
  /** Where it was asked for, where each redirect led, and where it is moving to; a file has none. */
  readonly addresses: readonly string[];
  /** Of a file, absolute. */
  readonly path: string | undefined;
  readonly title: string;
}

/** What a feed is known by: feeds gain and lose marks and move, so every mark counts that it has now. */
export interface FeedIdentities {
  /** Of this feed alone: they are the scope of every name. */
  readonly own: readonly string[];
  /** Other feeds may have these too: only names that are unlikely to be theirs hold within them. */
  readonly shared: readonly string[];
}

/**
 * A web site may have several feeds, and so may an address without its query: these are the feed's own only where
 * nothing better tells it from others. A file may hold one feed today and another tomorrow: its path counts only with
 * the feed's title, and where the feed does not name itself.
 */
export function feedIdentities(marks: FeedMarks): FeedIdentities {
  const { guid, selfLink, link, addresses, path, title } = marks;
  const named = [
    ...(guid ? [`guid ${guid.toLowerCase()}`] : []),
    ...(selfLink ? [`feed ${addressOf(selfLink)}`] : []),
  ];
  const site = link ? [`site ${addressOf(link)}`] : [];
  const places = addresses.map((address) => `feed ${addressOf(address)}`);
  const isNamed = named.length > 0;
  const isKnown = isNamed || site.length > 0;
  const own = new Set([
    ...named,
    ...(isNamed ? [] : site),
    ...(isKnown ? [] : places),
    ...addresses.map((address) => `feed ${wholeAddressOf(address)}`),
    ...(isNamed || path === undefined ? [] : [`file ${JSON.stringify([path, title])}`]),
  ]);
  const shared = new Set([...site, ...places].filter((identity) => !own.has(identity)));
  return { own: [...own], shared: [...shared] };
}

/** Without its query, which may hold a token. */
function addressOf(text: string): string {
  const url = new URL(text);
  url.search = '';
  return wholeAddressOf(url.href);
}

/** Without its scheme, because feeds move from http to https. */
function wholeAddressOf(text: string): string {
  const url = new URL(text);
  url.username = '';
  return withoutScheme(audioIdentity(url.href)).replace(/\/+$/, '');
}

const withoutScheme = (url: string): string => url.replace(/^https?:\/\//, '');

/** What an episode is named by. */
export interface Named {
  readonly guid: string | undefined;
  readonly title: string;
  readonly published: string | undefined;
  readonly url: string | undefined;
}

/** Where a mark of an episode is a name. */
type Reach = 'own' | 'shared' | 'everywhere';

interface Mark {
  readonly kind: 'guid' | 'enclosure' | 'title';
  readonly text: string;
  readonly reach: Reach;
}

/** The names of each episode. What two of them share names neither. */
export function episodeNames(episodes: readonly Named[], { own, shared }: FeedIdentities): string[][] {
  const ownScopes = own.map(scopeOf);
  const scopes: Readonly<Record<Reach, readonly string[]>> = {
    own: ownScopes,
    shared: [...ownScopes, ...shared.map(scopeOf)],
    everywhere: ['everywhere'],
  };
  const marks = episodes.map((episode) => marksOf(episode, episodes.length));
  const uses = new Map<string, number>();
  for (const mark of marks.flat()) uses.set(keyOf(mark), (uses.get(keyOf(mark)) ?? 0) + 1);
  return marks.map((all) =>
    all
      .filter((mark) => uses.get(keyOf(mark)) === 1)
      .flatMap(({ kind, text, reach }) => scopes[reach].map((scope) => `${kind} ${scope} ${text}`)),
  );
}

/** Private feeds have a token in their address, which must not be kept. */
const scopeOf = (identity: string): string =>
  createHash('sha256').update(identity).digest('hex').slice(0, 32);

const keyOf = ({ kind, text, reach }: Mark): string =>
  `${reach === 'everywhere' ? reach : ''} ${kind} ${text}`;

/** `count` is the number of episodes in the feed. */
function marksOf({ guid, title, published, url }: Named, count: number): Mark[] {
  const path = url && pathMark(url, count);
  const unique = guid && uniqueGuid(guid);
  return [
    ...(unique ? [{ kind: 'guid', text: unique, reach: 'everywhere' } as const] : []),
    ...(guid ? [{ kind: 'guid', text: guidMark(guid), reach: unique ? 'shared' : 'own' } as const] : []),
    ...(path ? [{ kind: 'enclosure', text: path, reach: 'own' } as const] : []),
    ...(title && published
      ? [{ kind: 'title', text: `${published} ${title.normalize('NFC')}`, reach: 'shared' } as const]
      : []),
  ];
}

/** A guid that no other show can have, in one spelling: a UUID, a long hash, a link, or a tag URI. */
function uniqueGuid(guid: string): string | undefined {
  const [, id] = /^(?:urn:uuid:|\{)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\}?$/i.exec(guid) ?? [];
  // A number that is filled up with zeros is no such guid.
  if (id !== undefined) return /^0{8}/.test(id) ? undefined : id.toLowerCase();
  if (/^(?=\d*[a-f])(?!0{8})(?:[0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/i.test(guid))
    return guid.toLowerCase();
  if (/^tag:[^\s:,]+,\d{4}(?:-\d\d){0,2}:\S/i.test(guid)) return guid.normalize('NFC');
  return isEpisodeLink(guid) ? withoutScheme(audioIdentity(guid)) : undefined;
}

/** Of a public host; the address of a whole site is none. */
function isEpisodeLink(guid: string): boolean {
  if (!isLink(guid)) return false;
  const { hostname, pathname, search } = new URL(guid);
  return /\.[a-z][^.]*\.?$/i.test(hostname) && pathname + search !== '/';
}

/** Some feeds have the link of the audio for a guid, with its token. */
const guidMark = (guid: string): string => (isLink(guid) ? audioIdentity(guid) : guid.normalize('NFC'));

const isLink = (guid: string): boolean => /^https?:\/\//i.test(guid) && isUrl(guid);

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
