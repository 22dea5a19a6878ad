/** A podcast feed: RSS 2.0 or Atom, and the episodes in it that have audio. */

import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { type StenoError, usage } from '../lib/errors.ts';
import { audioIdentity, episodeNames, type FeedMarks } from '../lib/names.ts';
import { withoutSignature } from '../lib/signatures.ts';
import { hasHidden, oneLine, plural } from '../lib/text.ts';
import { isUrl } from '../lib/url.ts';
import { type Entry, FeedCollector, type ItemPlace, type Link, type RawFeed } from './entries.ts';
import { parseFeedDate, parseFeedDuration } from './times.ts';
import { readXml } from './xml.ts';

// Which of the files of an entry is its audio, and where it is.

const audioEndings =
  /\.(?:mp3|m4[abpv]|mp4|mp2|mpga|aac|og[agv]|opus|spx|wave?|flac|wma|wmv|webm|mk[av]|aiff?|aifc|amr|3gpp?|3g2|caf|mov|mpe?g|avi|ac3|au|ra|rm)$/i;

/** A feed may offer one episode in several formats: the first audio counts, or the first video. */
function chooseEnclosure(all: readonly Link[]): Link | undefined {
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
function absoluteUrl({ url, base }: Link, documentUrl: string | undefined): string | undefined {
  const parent = base !== undefined && isUrl(base) ? base : documentUrl;
  if (!isUrl(url, parent)) return undefined;
  const { protocol, href } = new URL(url, parent);
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  const isPlain = /^https?:\/\/[^\s\u0000-\u0020\u007f-\u009f]+$/i.test(url) && !hasHidden(url);
  return isPlain ? url : href;
}

// Turns the bytes of a feed into text: by byte order mark, then what the server and the feed itself say.

/** `contentType` is the server's; a file has none. */
function decodeFeed(bytes: Buffer, contentType: string, where: string): string {
  return decoderFor(bytes, contentType, where).decode(bytes);
}

function decoderFor(bytes: Buffer, contentType: string, where: string): TextDecoder {
  const wide = wideEncoding(bytes);
  if (wide) return new TextDecoder(wide);
  const named = [charsetIn(contentType), encodingIn(bytes)].filter((name) => name !== undefined);
  // A server's default may be wrong, but bytes beyond ASCII are valid UTF-8 only on purpose.
  const mayBeUtf8 = named.length === 0 || named.some((name) => /^utf-?8$/i.test(name));
  if (mayBeUtf8 && isUtf8(bytes)) return new TextDecoder();
  // The first bytes were read as one byte a letter, so it is no UTF-16, whatever it says.
  const narrow = named.filter((name) => !/^(?:utf-?16|ucs-2|iso-10646)/i.test(name));
  const [decoder] = narrow.flatMap((name) => knownDecoder(name));
  const [unknown] = narrow;
  if (decoder || unknown === undefined) return decoder ?? new TextDecoder();
  throw usage(`${where} has an unknown encoding: ${oneLine(unknown, 40)}`);
}

/** Whether the text of a feed is its bytes, so that what is added to it leaves the others as they are. */
export const isUtf8Feed = (bytes: Buffer, where: string): boolean =>
  isUtf8(bytes) && decoderFor(bytes, '', where).encoding === 'utf-8';

/** UTF-16, by its mark or by the zeros around `<` and what follows it. */
function wideEncoding(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, 4);
  if (start.startsWith('\u00ff\u00fe') || /^<\0[^\0]\0$/.test(start)) return 'utf-16le';
  if (start.startsWith('\u00fe\u00ff') || /^\0<\0[^\0]$/.test(start)) return 'utf-16be';
  return start.startsWith('\u00ef\u00bb\u00bf') ? 'utf-8' : undefined;
}

const charsetIn = (contentType: string): string | undefined =>
  /;\s*charset\s*=\s*["']?([\w.:-]{1,60})/i.exec(contentType.slice(0, 1_000))?.[1];

/** `<?xml version="1.0" encoding="ISO-8859-1"?>` */
const encodingIn = (bytes: Buffer): string | undefined =>
  /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]{1,60})["']/i.exec(bytes.toString('latin1', 0, 1_024))?.[1];

function knownDecoder(name: string): TextDecoder[] {
  try {
    return [new TextDecoder(name)];
  } catch {
    return [];
  }
}

// A web page in place of a feed: people copy the address of the page, which often names its feed.

/** Of a page; the links are at its beginning. */
const MAX_LENGTH = 262_144;

/** `url` is where the page came from. */
function pageError(where: string, page: string, url: string | undefined): StenoError {
  const feed = feedIn(page.slice(0, MAX_LENGTH), url);
  return usage(
    `${where} is a web page, not a feed`,
    feed ? `it names this feed: ${feed}` : 'look for the RSS link on the page, and use that address',
  );
}

/** `<link rel="alternate" type="application/rss+xml" href="/feed.xml">` */
function feedIn(page: string, url: string | undefined): string | undefined {
  for (const [tag] of page.matchAll(/<link\s[^<>]{1,2000}>/gi)) {
    const href = /\shref\s*=\s*["']?([^\s"'<>]{1,1000})/i.exec(tag)?.[1]?.replaceAll('&amp;', '&');
    const isFeed = /\stype\s*=\s*["']?application\/(?:rss|atom)\+xml\b/i.test(tag);
    if (!href || !isFeed || !isUrl(href, url)) continue;
    const { protocol, href: address } = new URL(href, url);
    if (protocol === 'https:' || protocol === 'http:') return oneLine(address, 1_000);
  }
  return undefined;
}

export interface Episode {
  /** Some are a link: then without its signature. */
  readonly guid: string | undefined;
  /** One line; empty where it has none. */
  readonly title: string;
  /** ISO 8601, in UTC. */
  readonly published: string | undefined;
  readonly seconds: number | undefined;
  /** Its page, without a signature. */
  readonly link: string | undefined;
  /** Its audio: absolute, and as the feed spells it where that is possible. */
  readonly url: string;
  /** The feed offers a transcript of it. */
  readonly hasTranscript: boolean;
  /** What tells it from others, beside its URL; for the claims of the ledger. */
  readonly names: readonly string[];
  /** Why it can't be ordered. */
  readonly problem: string | undefined;
  readonly place: ItemPlace;
}

export interface Feed {
  readonly title: string;
  /** What tells it from others. May hold a token: not to be kept. */
  readonly marks: FeedMarks;
  /** Where attributes can be added to the root of RSS. */
  readonly root?: number | undefined;
  /** As the feed lists them. */
  readonly episodes: readonly Episode[];
  /** How many pages of it were read. */
  readonly pages: number;
  /** Why older pages were not read, if there are any. */
  readonly unread?: UnreadPages | undefined;
}

/** Not needed for the choice, or else a warning. */
export type UnreadPages = 'not needed' | { readonly message: string; readonly hint: string };

/** A document of a feed: all of it, or a page. */
export interface FeedPage {
  readonly head: Pick<Feed, 'title' | 'marks' | 'root'>;
  readonly episodes: readonly Draft[];
  /** How many it has, with audio or without. */
  readonly entries: number;
  readonly older: OlderPage | undefined;
}

/** Where older entries are. */
interface OlderPage {
  readonly url: string;
  /** Archives may repeat what newer documents have; a page that adds nothing is the end. */
  readonly isArchive: boolean;
}

export interface FeedSource {
  readonly bytes: Buffer;
  /** Names the feed in errors. */
  readonly where: string;
  /** Where it came from, after redirects; a file has none. */
  readonly url?: string | undefined;
  /** Where the user said it is, and where each redirect led. */
  readonly addresses?: readonly string[] | undefined;
  /** Of a file, absolute. */
  readonly path?: string | undefined;
  readonly contentType?: string | undefined;
  /** The header `Link`. */
  readonly links?: string | undefined;
  /** The user's interruption. */
  readonly signal: AbortSignal;
}

/** A feed that is one document. */
export async function parseFeed(source: FeedSource): Promise<Feed> {
  return new FeedPages(await parsePage(source)).toFeed(source.where);
}

export async function parsePage({
  bytes,
  where,
  url,
  addresses = url === undefined ? [] : [url],
  path,
  contentType = '',
  links = '',
  signal,
}: FeedSource): Promise<FeedPage> {
  const text = decodeFeed(bytes, contentType, where).trimStart();
  if (text === '') throw usage(`${where} is empty`);
  if (!text.startsWith('<'))
    throw usage(`${where} is not a feed`, 'if it is a list of URLs, use --from in place of --feed');
  const collector = new FeedCollector(where, () => pageError(where, text, url));
  await readXml(text, where, collector, signal);
  return toPage(collector.feed, url, { addresses, path, links });
}

/** Joins the pages of a feed; what it says of itself is on the first. */
export class FeedPages {
  readonly #head: FeedPage['head'];
  readonly episodes: Draft[] = [];
  readonly #seen = new Set<string>();
  /** Of earlier pages. */
  readonly #earlier = new Set<string>();
  #withAudio = 0;
  /** How many pages. */
  count = 0;
  entries = 0;

  constructor(first: FeedPage) {
    this.#head = first.head;
    this.add(first);
  }

  /** Gives the episodes that no earlier page has. */
  add({ episodes, entries }: FeedPage): readonly Draft[] {
    const added = episodes.filter((draft) => {
      const mark = listingMark(draft);
      if (this.#earlier.has(pageMark(draft)) || (mark && this.#seen.has(mark))) return false;
      if (mark) this.#seen.add(mark);
      return true;
    });
    for (const draft of added) {
      this.#earlier.add(pageMark(draft));
      this.episodes.push(draft);
    }
    this.#withAudio += episodes.length;
    this.entries += entries;
    this.count += 1;
    return added;
  }

  /** `where` names the feed in errors. */
  toFeed(where: string, unread?: UnreadPages): Feed {
    const withoutAudio = this.entries - this.#withAudio;
    const counted = withoutAudio
      ? `${plural(withoutAudio, 'entry').replace(/ys$/, 'ies')} without`
      : 'no entries';
    if (this.episodes.length === 0) throw usage(`${where} has no episodes with audio (${counted})`);
    const names = episodeNames(this.episodes.map(namedBy), this.#head.marks);
    return {
      ...this.#head,
      episodes: this.episodes.map((draft, at) => ({ ...draft, names: names[at] ?? [] })),
      pages: this.count,
      unread,
    };
  }
}

function toPage(
  raw: RawFeed,
  url: string | undefined,
  { addresses, path, links }: Pick<FeedMarks, 'addresses' | 'path'> & { readonly links: string },
): FeedPage {
  const selfLink = raw.selfLink && absoluteUrl(raw.selfLink, url);
  // A file has no address, but the feed in it says where it belongs.
  const base = url ?? selfLink ?? (raw.link && absoluteUrl(raw.link, undefined));
  const newAddress = raw.newAddress && absoluteUrl(raw.newAddress, base);
  const title = titleText(raw.title);
  const saidAddresses = [selfLink, newAddress].filter((each) => each !== undefined);
  const marks = { guid: raw.guid, addresses, saidAddresses, path, title };
  const next = raw.nextPage ?? linkedNext(links);
  const older = next ?? raw.archive;
  const olderUrl = older && absoluteUrl(older, base);
  return {
    head: { title, marks, root: raw.root },
    episodes: raw.entries.flatMap((entry) => draftOf(entry, base)),
    entries: raw.entries.length,
    older: olderUrl === undefined ? undefined : { url: olderUrl, isArchive: next === undefined },
  };
}

/** Of the header `Link: <https://host/feed?page=2>; rel="next"`. */
function linkedNext(header: string): Link | undefined {
  for (const [, url = '', parameters = ''] of header.matchAll(/<([^<>]*)>((?:[^<",]|"[^"]*")*)/g)) {
    const [, quoted, plain = ''] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(parameters) ?? [];
    if (/(?:^|\s)next(?:\s|$)/i.test(quoted ?? plain)) return { url, type: '', base: undefined };
  }
  return undefined;
}

export type Draft = Omit<Episode, 'names'>;

/** Empty for an entry that is no episode. */
function draftOf(entry: Entry, base: string | undefined): Draft[] {
  const enclosure = chooseEnclosure(entry.enclosures);
  if (!enclosure) return [];
  const url = absoluteUrl(enclosure, base);
  const published = entry.published ?? entry.updated;
  const link = entry.link && absoluteUrl(entry.link, base);
  return [
    {
      guid: entry.guid && withoutSignature(entry.guid),
      title: titleText(
        entry.titleIsHtml ? withoutHtml(entry.title ?? '') : (entry.title ?? entry.shortTitle),
      ),
      published: published && parseFeedDate(published),
      seconds: entry.duration ? parseFeedDuration(entry.duration) : undefined,
      link: link && withoutSignature(link),
      url: url ?? enclosure.url,
      hasTranscript: entry.place.transcripts.length > 0,
      place: entry.place,
      problem: url === undefined ? problemOf(enclosure) : undefined,
    },
  ];
}

/** Parameters may be a token. */
const problemOf = ({ url }: Link): string => {
  const address = oneLine(url.replace(/[?#].*$/s, ''), 80);
  return /^[a-z][a-z0-9+.-]*:/i.test(url)
    ? `its audio is not at an http or https URL: ${address}`
    : `the address of its audio is relative, and the feed does not say to what: ${address}`;
};

const namedBy = ({ url, problem, ...draft }: Draft) => ({
  ...draft,
  url: problem === undefined ? url : undefined,
});

/** Some feeds list an episode twice, with the same guid and audio. */
const listingMark = (draft: Draft): string | undefined =>
  draft.guid === undefined ? undefined : JSON.stringify([draft.guid, audioOf(draft)]);

/** The same for an episode on two pages: its link may have a new token on each. */
const pageMark = (draft: Draft): string => {
  const { guid, title, published } = draft;
  return JSON.stringify([guid, title, published, guid && title && published ? '' : audioOf(draft)]);
};

const audioOf = ({ url, problem }: Draft): string => (problem ? url : audioIdentity(url));

const MAX_TITLE_LENGTH = 1_000;

/** One line: titles come with line breaks. */
const titleText = (title = ''): string =>
  title
    .slice(0, 4 * MAX_TITLE_LENGTH)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_TITLE_LENGTH)
    // Half of a character.
    .replace(/[\ud800-\udbff]$/, '');

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** In Atom a title may be HTML, written as text. */
const withoutHtml = (html: string): string =>
  html
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replace(/&#39;/g, "'")
    .replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => characters[name] ?? '');
