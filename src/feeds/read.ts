/** Reads a feed from its address, page by page (RFC 5005), or from a file. */
import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Nearness, shownAddress } from '../api/http/address.ts';
import { getPublic, type PublicReading } from '../api/http/keyless.ts';
import { StenoError, systemReason, usage } from '../lib/errors.ts';
import { readBytes } from '../lib/lines.ts';
import type { Report } from '../lib/progress.ts';
import { plural } from '../lib/text.ts';
import { checkUrl, urlHint } from '../lib/url.ts';
import { type Choice, olderWanted } from './choose.ts';
import { type Feed, type FeedPage, FeedPages, parsePage, type UnreadPages } from './feed.ts';

export interface FeedReading extends PublicReading {
  /** The user's limit for each page; without it, that of a feed. */
  readonly timeoutMs?: number | undefined;
  readonly bounds?: FeedBounds | undefined;
  readonly report?: Report | undefined;
}

/** After as many, no older page is read. */
interface FeedBounds {
  readonly pages: number;
  readonly entries: number;
  readonly bytes: number;
}

const defaultBounds: FeedBounds = { pages: 200, entries: 100_000, bytes: 256 * 1024 * 1024 };

/** 10,000 episodes with their notes take 20 to 40 MB. */
const MAX_FEED_BYTES = 64 * 1024 * 1024;
const FETCH_LIMIT_MS = 120_000;
const ACCEPT = 'application/rss+xml, application/atom+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.5';

/** `source` is an http or https URL, or the path of a file. Older pages are read while the choice may need them. */
export function readFeed(source: string, reading: FeedReading, choice: Choice = {}): Promise<Feed> {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(source)
    ? readFeedUrl(checkUrl(source, 'feed'), reading, choice)
    : readFeedFile(source, reading.signal, choice);
}

async function readFeedUrl(address: string, reading: FeedReading, choice: Choice): Promise<Feed> {
  const where = `the feed ${shownAddress(address)}`;
  const { bounds = defaultBounds, report } = reading;
  let page = await fetchPage({ url: address, where }, reading);
  let { bytes } = page;
  const pages = new FeedPages(page);
  const seen = new Set([address, page.url].map(withoutFragment));
  const needsOlder = olderWanted(choice);
  let isNeeded = needsOlder(pages.episodes);
  while (page.older && !seen.has(withoutFragment(page.older.url))) {
    if (!isNeeded) return pages.toFeed(where, 'not needed');
    if (pages.count >= bounds.pages || pages.entries >= bounds.entries || bytes >= bounds.bytes)
      return pages.toFeed(where, tooLong(where, pages, bounds));
    const { url, isArchive } = page.older;
    page = await fetchOlder(withPassword(url, address), page, {
      where,
      number: pages.count + 1,
      reading,
    });
    for (const each of [url, page.url]) seen.add(withoutFragment(each));
    const added = pages.add(page);
    isNeeded = needsOlder(added);
    bytes += page.bytes;
    report?.({ done: pages.count, unit: 'page' });
    // Some hosts answer with the same episodes for ever.
    if (added.length === 0 && page.entries === page.episodes.length && !isArchive) break;
  }
  return pages.toFeed(where);
}

interface FetchedPage extends FeedPage {
  /** Where it came from, after redirects. */
  readonly url: string;
  readonly nearness: Nearness;
  readonly bytes: number;
}

interface PageAddress {
  readonly url: string;
  /** Names the page in errors. */
  readonly where: string;
  /** The page that names this one. */
  readonly namedBy?: FetchedPage;
}

async function fetchPage(
  { url: asked, where, namedBy }: PageAddress,
  { timeoutMs, ...reading }: FeedReading,
): Promise<FetchedPage> {
  const { bytes, url, nearness, redirects, contentType, links } = await getPublic({
    ...reading,
    url: asked,
    namedBy: namedBy?.url,
    namedFrom: namedBy?.nearness,
    accept: ACCEPT,
    maxBytes: MAX_FEED_BYTES,
    limitMs: timeoutMs ?? FETCH_LIMIT_MS,
  });
  const addresses = [asked, ...redirects];
  const { signal } = reading;
  const page = await parsePage({ bytes, url, addresses, contentType, links, where, signal });
  return { ...page, url, nearness, bytes: bytes.length };
}

/** Of half a feed nothing is ordered: what is missing could not be told from what does not exist. */
async function fetchOlder(
  url: string,
  namedBy: FetchedPage,
  {
    where,
    number,
    reading,
  }: { readonly where: string; readonly number: number; readonly reading: FeedReading },
): Promise<FetchedPage> {
  const what = `page ${number} of ${where}`;
  try {
    return await fetchPage({ url, where: what, namedBy }, reading);
  } catch (error) {
    if (!(error instanceof StenoError) || error.kind === 'interrupted') throw error;
    const { kind, message, status } = error;
    throw new StenoError(kind, message.startsWith(what) ? message : `can't read ${what}: ${message}`, {
      status,
      cause: error,
      hint: 'nothing was ordered; try again later, or choose fewer episodes with --latest or --since',
    });
  }
}

/** The user's password is for the feed's own host; a feed names none. */
function withPassword(text: string, feed: string): string {
  const [url, { origin, username, password }] = [new URL(text), new URL(feed)];
  url.username = url.origin === origin ? username : '';
  url.password = url.origin === origin ? password : '';
  return url.href;
}

const withoutFragment = (text: string): string => {
  const url = new URL(text);
  url.hash = url.username = url.password = '';
  return url.href;
};

const tooLong = (where: string, { count, episodes }: FeedPages, bounds: FeedBounds): UnreadPages => ({
  message: `${where} was read up to page ${count} (${plural(episodes.length, 'episode')}); older episodes were left out`,
  hint:
    `a feed is read up to ${bounds.pages} pages, ${bounds.entries} entries or ${bounds.bytes >> 20} MB; ` +
    'order older episodes by their URLs',
});

/** The bytes of a feed in a file. */
export async function feedBytes(path: string, signal: AbortSignal): Promise<Buffer> {
  try {
    return await readBytes(createReadStream(path, { signal }), MAX_FEED_BYTES);
  } catch (error) {
    if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
    const hint = existsSync(path) ? undefined : feedHint(path);
    throw usage(`can't read the feed ${path}: ${systemReason(error)}`, hint);
  }
}

async function readFeedFile(path: string, signal: AbortSignal, choice: Choice): Promise<Feed> {
  const bytes = await feedBytes(path, signal);
  const where = `the feed ${path}`;
  const page = await parsePage({ bytes, path: resolve(path), where, signal });
  const pages = new FeedPages(page);
  const isNeeded = olderWanted(choice)(pages.episodes);
  return pages.toFeed(where, page.older && (isNeeded ? onlyFile(where) : 'not needed'));
}

const feedHint = (path: string): string =>
  /^[^/]*\.(xml|rss|atom)$/i.test(path)
    ? 'check the path, or give the address of the feed: --feed https://host/feed.xml'
    : urlHint(path, 'feed');

const onlyFile = (where: string): UnreadPages => ({
  message: `${where} continues at a URL, which is not fetched for a file: older episodes were left out`,
  hint: 'to read all its pages, give --feed the address of the feed instead of the file',
});
