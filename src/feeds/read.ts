/** Reads a feed from its address or from a file. */
import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { getPublic, type PublicReading, shownAddress } from '../api/http/get-public.ts';
import { errorMessage, StenoError, usage } from '../lib/errors.ts';
import { readBytes } from '../lib/streams.ts';
import { urlHint } from '../lib/url-hints.ts';
import { checkUrl } from '../lib/urls.ts';
import { type Feed, parseFeed } from './feed.ts';

export interface FeedReading extends PublicReading {
  /** The user's limit; without it, that of a feed. */
  readonly timeoutMs?: number | undefined;
}

/** 10,000 episodes with their notes take 20 to 40 MB. */
const MAX_FEED_BYTES = 64 * 1024 * 1024;
const FETCH_LIMIT_MS = 120_000;
const ACCEPT = 'application/rss+xml, application/atom+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.5';

/** `source` is an http or https URL, or the path of a file. */
export function readFeed(source: string, reading: FeedReading): Promise<Feed> {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(source)
    ? readFeedUrl(checkUrl(source, 'feed'), reading)
    : readFeedFile(source, reading.signal);
}

async function readFeedUrl(address: string, { timeoutMs, ...reading }: FeedReading): Promise<Feed> {
  const { bytes, url, redirects, contentType } = await getPublic({
    ...reading,
    url: address,
    accept: ACCEPT,
    maxBytes: MAX_FEED_BYTES,
    limitMs: timeoutMs ?? FETCH_LIMIT_MS,
  });
  const where = `the feed ${shownAddress(address)}`;
  const addresses = [address, ...redirects];
  return parseFeed({ bytes, url, addresses, contentType, where, signal: reading.signal });
}

async function readFeedFile(path: string, signal: AbortSignal): Promise<Feed> {
  let bytes: Buffer;
  try {
    bytes = await readBytes(createReadStream(path, { signal }), MAX_FEED_BYTES);
  } catch (error) {
    if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
    const hint = existsSync(path) ? undefined : `there is no such file; ${urlHint(path, 'feed')}`;
    throw usage(`can't read the feed ${path}: ${errorMessage(error)}`, hint);
  }
  return parseFeed({ bytes, path: resolve(path), where: `the feed ${path}`, signal });
}
