/**
 * What names what: an audio, an episode, a feed, a recording, an order, an account. Two orders that share a name of an
 * audio are for the same audio. The table "What names what" in DECISIONS.md says the same in words.
 *
 * A name is its kind, a blank, and a text; `storedName` is how the ledger keeps it.
 */

import { sha256 } from './sha256.ts';
import {
  cutEncodedSignatures,
  joined,
  oneOf,
  type Parameter,
  parametersOf,
  withoutSigned,
} from './signatures.ts';
import { isUrl } from './url.ts';

// An audio: its URL, or the key that the user gave it.

/**
 * Parameters that only campaigns and analytics add. A name that some site has for its content (`ref`, `source`, `id`,
 * `pk_id`) is not among them: two audios under one name mean that one of them is never bought.
 */
const trackingNames = oneOf(
  // `pk_`, of what was Piwik, also begins the names of primary keys.
  'gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid _ga _gl _gac fbclid igshid igsh msclkid yclid ' +
    'ttclid twclid li_fat_id epik sccid rdt_cid irclickid s_kwcid ef_id _openstat mc_cid mc_eid mkt_tok vero_id ' +
    'vero_conv oly_enc_id oly_anon_id wickedid _kx dm_i _hsenc _hsmi __hstc __hssc __hsfp hsctatracking guccounter ' +
    'guce_referrer guce_referrer_sig pk_campaign pk_keyword pk_kwd',
);
const isTracking = (name: string): boolean =>
  trackingNames(name) ||
  name.startsWith('utm_') ||
  /^(mtm|matomo|piwik)_(campaign|keyword|kwd|source|medium|content|cid|group|placement)$/.test(name);

/**
 * The same text for every URL of the same audio: URLs that differ only in spelling (RFC 3986), in the parameters of a
 * known signature, or in tracking parameters. Takes an absolute URL that `new URL` accepts.
 */
export function audioIdentity(text: string): string {
  const url = new URL(text);
  const parameters = withoutSigned(parametersOf(url.search)).filter(({ name }) => !isTracking(name));
  return cutEncodedSignatures(normalForm(url, parameters));
}

/** The normal form of RFC 3986 without fragment and password; `URL` has done host, port and dot segments. */
function normalForm(url: URL, parameters: readonly Parameter[]): string {
  const host = url.hostname.replace(/(?<=[^.])\.+$/, '');
  const port = url.port ? `:${url.port}` : '';
  const user = url.username ? `${normalEscapes(url.username)}@` : '';
  const query = parameters.length ? `?${normalEscapes(joined(parameters))}` : '';
  return `${url.protocol}//${user}${host}${port}${normalEscapes(url.pathname)}${query}`;
}

/**
 * Unreserved characters stand as they are, others keep their escape in capitals, and what RFC 3986 allows nowhere is
 * escaped. `URL` has escaped what is not ASCII.
 */
const normalEscapes = (text: string): string =>
  text.replace(/%([0-9a-f]{2})|["<>[\\\]^`{|}%]/gi, (found, digits?: string) => {
    if (digits === undefined) return `%${found.charCodeAt(0).toString(16).toUpperCase()}`;
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : found.toUpperCase();
  });

/** Where two URLs of the same audio differ. */
export type Difference = 'nothing' | 'spelling' | 'signature' | 'tracking parameters';

/** Tells, of two URLs of the same audio, where they differ; the most telling difference wins. */
export function differenceOf(one: string, other: string): Difference {
  if (one === other) return 'nothing';
  const [a, b] = [one, other].map((text) => {
    const url = new URL(text);
    const parameters = parametersOf(url.search);
    return {
      whole: normalForm(url, parameters),
      unsigned: cutEncodedSignatures(normalForm(url, withoutSigned(parameters))),
    };
  }) as [{ whole: string; unsigned: string }, { whole: string; unsigned: string }];
  if (a.whole === b.whole) return 'spelling';
  return a.unsigned === b.unsigned ? 'signature' : 'tracking parameters';
}

export const urlName = (url: string): string => `url ${audioIdentity(url)}`;

export const isUrlName = (name: string): boolean => name.startsWith('url ');

/** A key stands in place of the URL: accents count, however they are encoded. */
export const keyName = (key: string): string => `key ${key.normalize('NFC')}`;

// A recording of this machine: its content. The URL that an upload gave it belongs to that content alone, and names it as
// it names any audio: a link to it is the same.

export const contentKey = (hash: string): string => `sha256:${hash}`;

export const isContentName = (name: string): boolean => name.startsWith(keyName(contentKey('')));

/** Claimed together with the content and the URL, so that no other content is ordered under the URL. */
export const uploadName = (url: string): string => `upload ${audioIdentity(url)}`;

export const isUploadName = (name: string): boolean => name.startsWith('upload ');

/** The URL of a recording. Whoever shares that name alone may be another audio: nobody knows what was at the URL. */
export const isUploadUrl = (names: readonly string[], name: string): boolean =>
  isUrlName(name) && names.some(isUploadName);

// A feed.

/** What tells a feed from others. */
export interface FeedMarks {
  /** `podcast:guid`, which stays when a feed moves. */
  readonly guid: string | undefined;
  /** Where it was asked for and where each redirect led; a file has none. */
  readonly addresses: readonly string[];
  /** What it says of its address: its self link, and where it is moving to. */
  readonly saidAddresses: readonly string[];
  /** Of a file, absolute. */
  readonly path: string | undefined;
  readonly title: string;
}

/**
 * Two feeds that share one of these are the same: by `podcast:guid`, by address, or by self link and title together,
 * because feeds are copied with the self link of another. A file may hold one feed today and another tomorrow: its path
 * counts only with the title, and where the feed does not name itself.
 */
export function feedNames({ guid, addresses, saidAddresses, path, title }: FeedMarks): string[] {
  const places = addresses.map(feedAddress);
  const titled = title ? [...places, ...saidAddresses.map(feedAddress)] : [];
  const namesItself = guid !== undefined || (title !== '' && saidAddresses.length > 0);
  return [
    ...new Set([
      ...(guid === undefined ? [] : [`guid ${guid.toLowerCase()}`]),
      ...places.map((place) => `feed ${place}`),
      ...titled.map((place) => `feed ${place} ${titleText(title)}`),
      ...(path === undefined || namesItself ? [] : [`file ${JSON.stringify([path, titleText(title)])}`]),
    ]),
  ];
}

/** An address by which a feed is found again; it is not kept itself, because it may hold a token. */
export const feedMark = (address: string): string => scopeOf(`feed ${feedAddress(address)}`);

/** Without its scheme, because feeds move from http to https. */
function feedAddress(text: string): string {
  const url = new URL(text);
  url.username = '';
  return withoutScheme(audioIdentity(url.href)).replace(/\/+$/, '');
}

const withoutScheme = (url: string): string => url.replace(/^https?:\/\//, '');

const titleText = (title: string): string => title.normalize('NFC');

// An episode, beside its URL.

/** What an episode is named by. */
export interface EpisodeMarks {
  readonly guid: string | undefined;
  readonly title: string;
  readonly published: string | undefined;
  readonly url: string | undefined;
}

/** The marks of which an episode has a name by the first that no other episode of its feed shares. */
const KINDS = ['guid', 'title', 'enclosure'] as const;

type Marks = Readonly<Record<(typeof KINDS)[number], string | undefined>>;

/**
 * The names of each episode: its guid within its feed; where it has none of its own, title and date; where it has
 * neither, the path of its audio. So episodes with different guids are different. A feed that moved can't be told from
 * another show by its guids, which may be `1`, `2`, `3`: there an episode is the same by guid, title and date together.
 */
export function episodeNames(episodes: readonly EpisodeMarks[], feed: FeedMarks): string[][] {
  const scopes = feedNames(feed).map(scopeOf);
  const marks = episodes.map((episode) => marksOf(episode, episodes.length));
  const uses = new Map<string, number>();
  for (const each of marks)
    for (const kind of KINDS) {
      const key = `${kind} ${each[kind]}`;
      if (each[kind] !== undefined) uses.set(key, (uses.get(key) ?? 0) + 1);
    }
  return marks.map((each, at) => {
    const kind = KINDS.find((one) => each[one] !== undefined && uses.get(`${one} ${each[one]}`) === 1);
    if (!kind) return [];
    const moved = kind === 'guid' ? movedScope(episodes[at]?.guid ?? '', feed.title) : undefined;
    return [
      ...scopes.map((scope) => `${kind} ${scope} ${each[kind]}`),
      ...(moved && each.title ? [`episode ${moved} ${JSON.stringify([each.guid, each.title])}`] : []),
    ];
  });
}

/** `count` is the number of episodes in the feed. */
function marksOf({ guid, title, published, url }: EpisodeMarks, count: number): Marks {
  const dated = title && published ? `${published} ${titleText(title)}` : undefined;
  return {
    guid: guid ? guidText(guid) : undefined,
    title: dated,
    enclosure: url && !guid && !dated ? pathOf(url, count) : undefined,
  };
}

/** In one spelling. Some feeds have the link of the audio for a guid, with its token. */
function guidText(guid: string): string {
  if (isLink(guid)) return withoutScheme(audioIdentity(guid));
  const [, uuid] = /^(?:urn:uuid:|\{)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\}?$/i.exec(guid) ?? [];
  return uuid?.toLowerCase() ?? guid.normalize('NFC');
}

/** Where guid, title and date name an episode: a guid that any show may have needs the same title of the show. */
function movedScope(guid: string, show: string): string | undefined {
  if (isUniqueGuid(guid)) return 'everywhere';
  return show ? scopeOf(`show ${titleText(show)}`) : undefined;
}

/** A guid that no other show has: a UUID, a long hash, a link, or a tag URI. */
function isUniqueGuid(guid: string): boolean {
  if (isLink(guid)) return isEpisodeLink(guid);
  // A number that is filled up with zeros is no such guid.
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(guidText(guid)))
    return !/^0{8}/.test(guidText(guid));
  if (/^(?=\d*[a-f])(?!0{8})(?:[0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/i.test(guid))
    return true;
  return /^tag:[^\s:,]+,\d{4}(?:-\d\d){0,2}:\S/i.test(guid);
}

/** Of a public host; the address of a whole site is none. */
function isEpisodeLink(guid: string): boolean {
  const { hostname, pathname, search } = new URL(guid);
  return /\.[a-z][^.]*\.?$/.test(hostname) && pathname + search !== '/';
}

const isLink = (guid: string): boolean => /^https?:\/\//i.test(guid) && isUrl(guid);

/**
 * The path without host and query. Where the only episode of a feed has a query, nothing shows that the path alone
 * tells episodes apart: `latest.mp3?id=7` may be another next week.
 */
function pathOf(url: string, count: number): string | undefined {
  const [address = '', query] = audioIdentity(url).split('?');
  const path = address.replace(/^https?:\/\/[^/]*/, '');
  return path === '/' || (query !== undefined && count < 2) ? undefined : path;
}

/** Private feeds have a token in their address, which must not be kept. */
const scopeOf = (name: string): string => sha256(name).slice(0, 32);

// What people ignore.

/** One name for all spellings of a URL, a key or a guid; a guid may be a link. */
export const ignoredName = (text: string): string => (isLink(text) ? urlName(text) : keyName(guidText(text)));

// A purchase, an account.

/** The names of an upgrade, and of a refund: nobody else asks for the same at the same time. */
export const upgradeNames = (file: string, skus: readonly string[]): string[] =>
  [...new Set(skus)].sort().map((sku) => `upgrade ${sku} ${file}`);

export const refundName = (file: string): string => `refund ${file}`;

// How the ledger keeps a name.

/** Some databases take no longer text into an index. */
const MAX_NAME_BYTES = 1024;

export function storedName(name: string): string {
  if (name.length * 3 <= MAX_NAME_BYTES || Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  return `${name.slice(0, name.indexOf(' '))} sha256:${sha256(name)}`;
}

/** Why two audios that share a name are the same, in words; a URL says more by where it differs. */
export function sameBy(name: string): string {
  if (isContentName(name)) return 'same content';
  const kind = name.slice(0, name.indexOf(' '));
  return kind === 'episode' ? 'same guid' : `same ${kind}`;
}

/** Tells a URL that was given twice from two that differ in what is not kept. */
export const spellingOf = (url: string): string => sha256(url).slice(0, 16);

/**
 * The one spelling of the name of an account or a profile. Names that differ only in case are the same: as two, each would
 * buy what the other has on order.
 */
export const accountName = (text: string): string => text.normalize('NFC').toLowerCase();
