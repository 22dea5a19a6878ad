/** Collects what a feed says, as it is written: RSS has a channel with items, Atom a feed with entries. */
import type { Tag } from 'sax';
import { usage } from '../lib/errors.ts';
import { oneLine } from '../lib/text.ts';
import { isUrl } from '../lib/url.ts';
import type { XmlHandler } from './xml.ts';

// Which vocabulary an element belongs to, whatever prefix its feed has for it.

type Vocabulary = 'rss' | 'atom' | 'itunes' | 'podcast' | 'dc' | 'other';

/** In lower case: feeds differ in the case, the scheme and the end of these. */
const uris: ReadonlyArray<readonly [RegExp, Vocabulary]> = [
  [/^https?:\/\/www\.itunes\.com\/dtds\/podcast-1\.0\.dtd$/, 'itunes'],
  [/^https?:\/\/(?:www\.)?podcastindex\.org\/namespace\/1\.0$/, 'podcast'],
  [/^https?:\/\/github\.com\/podcastindex-org\/podcast-namespace\b/, 'podcast'],
  [/^https?:\/\/www\.w3\.org\/2005\/atom$/, 'atom'],
  [/^https?:\/\/purl\.org\/dc\/(?:elements\/1\.1|terms)$/, 'dc'],
  [/^https?:\/\/(?:backend|blogs)\.(?:userland|law\.harvard)\.(?:com|edu)\/(?:rss2|tech\/rss)$/, 'rss'],
];
const MAX_URI_LENGTH = 200;

/** What these prefixes mean where a feed does not say it. */
const prefixes: Readonly<Record<string, Vocabulary>> = {
  itunes: 'itunes',
  podcast: 'podcast',
  atom: 'atom',
  dc: 'dc',
};

/** What holds within an element. */
interface Scope {
  readonly parent: Scope | undefined;
  readonly vocabularies: ReadonlyMap<string, Vocabulary>;
  /** What relative addresses are relative to: `xml:base`. */
  readonly base: string | undefined;
}

/** What a root without prefix says by its name: feeds have these in namespaces of their own, or in none. */
const roots: Readonly<Record<string, Vocabulary>> = { rss: 'rss', feed: 'atom' };

function scopeWithin(
  parent: Scope | undefined,
  name: string,
  attributes: Readonly<Record<string, string>>,
): Scope {
  const vocabularies = new Map<string, Vocabulary>();
  for (const attribute in attributes)
    if (attribute === 'xmlns' || attribute.startsWith('xmlns:'))
      vocabularies.set(attribute.slice('xmlns:'.length), vocabularyOf(attributes[attribute] ?? ''));
  const base = baseOf(attributes['xml:base'], parent?.base);
  // Most elements declare nothing.
  if (parent && vocabularies.size === 0 && base === parent.base) return parent;
  const root = parent ? undefined : roots[name.toLowerCase()];
  if (root) vocabularies.set('', root);
  return { parent, vocabularies, base };
}

function vocabularyOf(uri: string): Vocabulary {
  const text = uri.slice(0, MAX_URI_LENGTH).trim().toLowerCase().replace(/[#/]$/, '');
  if (text === '') return 'rss';
  return uris.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
}

function baseOf(text: string | undefined, parent: string | undefined): string | undefined {
  if (text === undefined || !isUrl(text, parent)) return parent;
  return new URL(text, parent).href;
}

/** The vocabulary of an element in a scope, and its name in lower case without prefix. */
export function qualified(name: string, scope: Scope): { vocabulary: Vocabulary; local: string } {
  const at = name.indexOf(':');
  const prefix = at < 0 ? '' : name.slice(0, at);
  const local = name.slice(at + 1).toLowerCase();
  for (let each: Scope | undefined = scope; each; each = each.parent) {
    const vocabulary = each.vocabularies.get(prefix);
    if (vocabulary) return { vocabulary, local };
  }
  return { vocabulary: prefix === '' ? 'rss' : (prefixes[prefix.toLowerCase()] ?? 'other'), local };
}

/** The prefix that an element of podcast has there; undefined where none is declared, null where it means another. */
function podcastPrefix(scope: Scope): string | null | undefined {
  for (let each: Scope | undefined = scope; each; each = each.parent)
    for (const [prefix, vocabulary] of each.vocabularies)
      if (
        vocabulary === 'podcast' &&
        prefix !== '' &&
        qualified(`${prefix}:x`, scope).vocabulary === 'podcast'
      )
        return prefix;
  return qualified('podcast:x', scope).vocabulary === 'podcast' ? undefined : null;
}

/** Where an item stands in its document, so that elements can be added. */
export interface ItemPlace {
  /** After its start tag, and before its end tag. */
  readonly from: number;
  to: number;
  readonly podcastPrefix: string | null | undefined;
  /** The addresses of its transcripts. */
  readonly transcripts: string[];
}

export interface Link {
  readonly url: string;
  readonly type: string;
  /** What it is relative to, where the feed says so. */
  readonly base: string | undefined;
}

/** An item or entry; what occurs twice counts the first time. */
export interface Entry {
  guid?: string;
  title?: string;
  titleIsHtml?: boolean;
  /** The title that itunes has in place of the first. */
  shortTitle?: string;
  published?: string;
  updated?: string;
  duration?: string;
  link?: Link;
  readonly place: ItemPlace;
  readonly enclosures: Link[];
}

export interface RawFeed {
  title?: string;
  guid?: string;
  selfLink?: Link;
  link?: Link;
  /** Where it is moving to. */
  newAddress?: Link;
  /** Older entries: the next page, and the archive before this document (RFC 5005). */
  nextPage?: Link;
  archive?: Link;
  /** Where attributes can be added to the root of RSS: after its name. */
  root?: number;
  readonly entries: Entry[];
}

/** 10,000 are common; a day and night of one a second are 86,400. */
const MAX_ENTRIES = 100_000;
const MAX_ENCLOSURES = 100;
/** Of a text that is used: a title, a guid, a date. */
const MAX_TEXT_LENGTH = 65_536;

interface Element {
  readonly name: string;
  readonly scope: Scope;
  /** Gets the text of the element, if it is used. */
  readonly use?: ((text: string) => void) | undefined;
}

/** Where an element that is used stands, as the path from the root: RSS and Atom call these by other names. */
const places: Readonly<Record<string, 'root' | 'feed' | 'entry'>> = {
  'rss:rss': 'root',
  'rss:rss/rss:channel': 'feed',
  'rss:rss/rss:channel/rss:item': 'entry',
  'atom:feed': 'feed',
  'atom:feed/atom:entry': 'entry',
};

/** `where` names the feed in errors. */
export class FeedCollector implements XmlHandler {
  readonly feed: RawFeed = { entries: [] };
  readonly page: () => Error;
  readonly #where: string;
  readonly #open: Element[] = [];
  #entry: Entry | undefined;
  #text = '';
  /** The element whose text is being collected. */
  #used: Element | undefined;
  #line = 0;

  constructor(where: string, page: () => Error) {
    this.#where = where;
    this.page = page;
  }

  open(tag: Tag, line: number, from: number, to: number): void {
    this.#line = line;
    const scope = scopeWithin(this.#open.at(-1)?.scope, tag.name, tag.attributes);
    const { vocabulary, local } = qualified(tag.name, scope);
    const element = this.#element(vocabulary, local, tag, scope);
    if (element.name === 'rss:rss') this.feed.root = from + 1 + tag.name.length;
    if (places[element.name] === 'entry') this.#startEntry(to, scope);
    this.#open.push(element);
    // Markup within a title belongs to it.
    if (!element.use || this.#used) return;
    this.#used = element;
    this.#text = '';
  }

  text(text: string): void {
    if (!this.#used) return;
    this.#text += text;
    if (this.#text.length > MAX_TEXT_LENGTH)
      throw usage(`${this.#where}, line ${this.#line}: a text of more than ${MAX_TEXT_LENGTH} characters`);
  }

  close(from: number): void {
    const element = this.#open.pop();
    if (element && element === this.#used) {
      element.use?.(this.#text.trim());
      this.#used = undefined;
    }
    if (!element || places[element.name] !== 'entry') return;
    if (this.#entry) this.#entry.place.to = from;
    this.#entry = undefined;
  }

  #element(vocabulary: Vocabulary, local: string, tag: Tag, scope: Scope): Element {
    const parent = this.#open.at(-1);
    const own = `${vocabulary}:${local}`;
    if (!parent) return { name: this.#rootName(own), scope };
    const place = places[parent.name];
    const name = place ? `${parent.name}/${own}` : '';
    const use = place && this.#useOf(place, own, linkOf(tag, scope));
    return { name, scope, use };
  }

  #rootName(name: string): string {
    if (name === 'rss:rss' || name === 'atom:feed') return name;
    const local = oneLine(name.slice(name.indexOf(':') + 1), 60);
    const what = local === 'rdf' ? 'RSS 1.0' : `an XML document '${local}'`;
    throw usage(`${this.#where} is ${what}, not RSS 2.0 or Atom`);
  }

  #startEntry(from: number, scope: Scope): void {
    if (this.feed.entries.length >= MAX_ENTRIES)
      throw usage(`${this.#where} has more than ${MAX_ENTRIES} entries`);
    const place = { from, to: from, podcastPrefix: podcastPrefix(scope), transcripts: [] };
    this.#entry = { enclosures: [], place };
    this.feed.entries.push(this.#entry);
  }

  /** Takes what stands in attributes; returns what takes the text. */
  #useOf(place: string, name: string, link: Link & { rel: string }): Element['use'] {
    if (place === 'entry' && this.#entry) return useInEntry(this.#entry, name, link);
    return place === 'feed' ? useInFeed(this.feed, name, link) : undefined;
  }
}

function linkOf({ attributes }: Tag, { base }: Scope): Link & { rel: string } {
  const { url, href = url ?? '', type = '', rel = 'alternate' } = attributes;
  return { url: href.trim(), type: type.trim(), rel: rel.trim().toLowerCase(), base };
}

function useInFeed(feed: RawFeed, name: string, { rel, ...link }: Link & { rel: string }): Element['use'] {
  if (name === 'atom:link' && rel === 'self') feed.selfLink ??= link;
  if (name === 'atom:link' && rel === 'alternate') feed.link ??= link;
  if (name === 'atom:link' && rel === 'next' && isFeedLink(link)) feed.nextPage ??= link;
  if (name === 'atom:link' && rel === 'prev-archive' && isFeedLink(link)) feed.archive ??= link;
  const uses: Readonly<Record<string, Element['use']>> = {
    'rss:title': (text) => {
      feed.title ??= text;
    },
    'rss:link': (text) => {
      if (text) feed.link ??= { ...link, url: text };
    },
    'podcast:guid': (text) => {
      if (text) feed.guid ??= text;
    },
    'itunes:new-feed-url': (text) => {
      if (text) feed.newAddress ??= { ...link, url: text };
    },
  };
  return uses[name === 'atom:title' ? 'rss:title' : name];
}

/** Some name the next page of their web site. */
const isFeedLink = ({ url, type }: Link): boolean => url !== '' && !/^text\/html\b/i.test(type);

/** Elements whose text is a field of the entry. */
const fields: Readonly<
  Record<string, 'guid' | 'title' | 'shortTitle' | 'published' | 'updated' | 'duration'>
> = {
  'rss:guid': 'guid',
  'atom:id': 'guid',
  'rss:title': 'title',
  'atom:title': 'title',
  'itunes:title': 'shortTitle',
  'rss:pubdate': 'published',
  'atom:published': 'published',
  'dc:date': 'updated',
  'atom:updated': 'updated',
  'itunes:duration': 'duration',
};

function useInEntry(entry: Entry, name: string, { rel, ...link }: Link & { rel: string }): Element['use'] {
  const isEnclosure = name === 'rss:enclosure' || (name === 'atom:link' && rel === 'enclosure');
  if (isEnclosure && link.url && entry.enclosures.length < MAX_ENCLOSURES) entry.enclosures.push(link);
  if (name === 'atom:link' && rel === 'alternate' && link.url) entry.link ??= link;
  if (name === 'podcast:transcript' && link.url) entry.place.transcripts.push(link.url);
  if (name === 'atom:title' && /^(?:text\/)?html$/i.test(link.type)) entry.titleIsHtml ??= true;
  if (name === 'rss:link')
    return (text) => {
      if (text) entry.link ??= { ...link, url: text };
    };
  const field = fields[name];
  if (!field) return undefined;
  return (text) => {
    if (text) entry[field] ??= text;
  };
}
