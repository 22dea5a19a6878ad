/** Feeds as hosts write them. */
import { type Episode, type Feed, type FeedSource, parseFeed } from '../../src/feeds/feed.ts';

export const ATOM = 'http://www.w3.org/2005/Atom';
const spaces = [
  'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"',
  'xmlns:podcast="https://podcastindex.org/namespace/1.0"',
  `xmlns:atom="${ATOM}"`,
].join(' ');

export const SELF = '<atom:link rel="self" href="https://feeds.example/show.xml"/>';

/** `head` stands in the channel, before the items. */
export const rss = (items: string, head = SELF): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" ${spaces}><channel><title>A show</title>${head}\n${items}</channel></rss>`;

export interface Item {
  readonly guid?: string | undefined;
  readonly title?: string | undefined;
  readonly date?: string | undefined;
  readonly url?: string | undefined;
  readonly type?: string | undefined;
  readonly more?: string | undefined;
}

export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

const element = (name: string, text: string | undefined): string =>
  text === undefined ? '' : `<${name}>${escaped(text)}</${name}>`;

export const item = ({
  guid,
  title,
  date,
  url = 'https://media.example/a.mp3',
  type = 'audio/mpeg',
  more = '',
}: Item): string =>
  `<item>${element('guid', guid)}${element('title', title)}${element('pubDate', date)}` +
  `<enclosure url="${escaped(url)}" type="${escaped(type)}" length="1000"/>${more}</item>\n`;

export const read = (text: string | Buffer, source: Partial<FeedSource> = {}): Promise<Feed> =>
  parseFeed({
    bytes: Buffer.from(text),
    where: 'the feed f.xml',
    signal: new AbortController().signal,
    ...source,
  });

/** The first episode of a feed. */
export async function first(text: string | Buffer, source: Partial<FeedSource> = {}): Promise<Episode> {
  const [episode] = (await read(text, source)).episodes;
  if (!episode) throw new Error('the feed has no episode');
  return episode;
}
