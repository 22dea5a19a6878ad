/** A web page in place of a feed: people copy the address of the page, which often names its feed. */
import { type StenoError, usage } from '../lib/errors.ts';
import { isUrl } from '../lib/is-url.ts';
import { oneLine } from '../lib/text.ts';

/** Of a page; the links are at its beginning. */
const MAX_LENGTH = 262_144;

/** `url` is where the page came from. */
export function pageError(where: string, page: string, url: string | undefined): StenoError {
  const feed = feedIn(page.slice(0, MAX_LENGTH), url);
  return usage(
    `${where} is a web page, not a feed`,
    feed ? `it names this feed: ${feed}` : 'look in the page for its link to RSS, and use that address',
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
