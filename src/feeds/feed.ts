/** A podcast feed: RSS 2.0 or Atom, and the episodes in it that have audio. */
import { withoutSignature } from '../lib/audio-identity.ts';
import { usage } from '../lib/errors.ts';
import { audioIdentity, episodeNames, type FeedMarks } from '../lib/names.ts';
import { oneLine, plural } from '../lib/text.ts';
import { decodeFeed } from './decode.ts';
import { absoluteUrl, chooseEnclosure, type Enclosure, enclosureOf } from './enclosure.ts';
import { type Entry, FeedCollector, type Link, type RawFeed } from './entries.ts';
import { pageError } from './page.ts';
import { parseFeedDate, parseFeedDuration } from './times.ts';
import { readXml } from './xml.ts';

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
  readonly enclosure: Enclosure;
  /** The feed offers a transcript of it. */
  readonly hasTranscript: boolean;
  /** What tells it from others, beside its URL; for the claims of the ledger. */
  readonly names: readonly string[];
  /** Why it can't be ordered. */
  readonly problem: string | undefined;
}

export interface Feed {
  readonly title: string;
  readonly link: string | undefined;
  /** What tells it from others. May hold a token: not to be kept. */
  readonly marks: FeedMarks;
  /** As the feed lists them. */
  readonly episodes: readonly Episode[];
  /** Entries that are no episodes: without audio, or listed twice. */
  readonly leftOut: { readonly withoutAudio: number; readonly repeated: number };
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
  /** The user's interruption. */
  readonly signal: AbortSignal;
}

export async function parseFeed({
  bytes,
  where,
  url,
  addresses = url === undefined ? [] : [url],
  path,
  contentType = '',
  signal,
}: FeedSource): Promise<Feed> {
  const text = decodeFeed(bytes, contentType, where).trimStart();
  if (text === '') throw usage(`${where} is empty`);
  if (!text.startsWith('<')) throw usage(`${where} is not a feed: it does not begin with <`);
  const collector = new FeedCollector(where, () => pageError(where, text, url));
  await readXml(text, where, collector, signal);
  const feed = toFeed(collector.feed, url, { addresses, path });
  if (feed.episodes.length === 0) throw usage(`${where} has no episodes with audio (${countText(feed)})`);
  return feed;
}

const countText = ({ leftOut }: Feed): string =>
  leftOut.withoutAudio
    ? `${plural(leftOut.withoutAudio, 'entry').replace(/ys$/, 'ies')} without`
    : 'no entries';

function toFeed(
  raw: RawFeed,
  url: string | undefined,
  { addresses, path }: Pick<FeedMarks, 'addresses' | 'path'>,
): Feed {
  const selfLink = raw.selfLink && absoluteUrl(raw.selfLink, url);
  // A file has no address, but the feed in it says where it belongs.
  const base = url ?? selfLink ?? (raw.link && absoluteUrl(raw.link, undefined));
  const link = raw.link && absoluteUrl(raw.link, base);
  const newAddress = raw.newAddress && absoluteUrl(raw.newAddress, base);
  const title = titleText(raw.title);
  const saidAddresses = [selfLink, newAddress].filter((each) => each !== undefined);
  const drafts = raw.entries.flatMap((entry) => draftOf(entry, base));
  const episodes = withoutRepeated(drafts);
  const marks = { guid: raw.guid, addresses, saidAddresses, path, title };
  const names = episodeNames(episodes.map(namedBy), marks);
  return {
    title,
    link,
    marks,
    episodes: episodes.map((draft, at) => ({ ...draft, names: names[at] ?? [] })),
    leftOut: { withoutAudio: raw.entries.length - drafts.length, repeated: drafts.length - episodes.length },
  };
}

type Draft = Omit<Episode, 'names'>;

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
      enclosure: enclosureOf(enclosure, url ?? enclosure.url),
      hasTranscript: entry.hasTranscript ?? false,
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

const namedBy = ({ enclosure, problem, ...draft }: Draft) => ({
  ...draft,
  url: problem === undefined ? enclosure.url : undefined,
});

/** Some feeds list an episode twice, with the same guid and audio. */
function withoutRepeated(drafts: readonly Draft[]): Draft[] {
  const seen = new Set<string>();
  return drafts.filter(({ guid, enclosure, problem }) => {
    if (guid === undefined) return true;
    const mark = JSON.stringify([guid, problem ? enclosure.url : audioIdentity(enclosure.url)]);
    return !seen.has(mark) && seen.add(mark);
  });
}

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
