/** A podcast of the sandbox, so that `order --feed sample` can be tried. */
import type { Answer } from './answer.ts';
import { audioPath, type Episode, episodes } from './episodes.ts';

export const FEED_PATH = '/feed.xml';

/** `host` is the sandbox as its caller knows it. */
export const feedAnswer = (host: string): Answer => ({
  status: 200,
  type: 'application/rss+xml; charset=utf-8',
  body: Buffer.from(feedText(`http://${host}`)),
});

const feedText = (origin: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
  xmlns:podcast="https://podcastindex.org/namespace/1.0">
<channel>
<title>The Sandbox Hour</title>
<link>https://example.com/sandbox-hour</link>
<podcast:guid>5f8f2c7e-6d2b-5b0e-9a3e-7f1f9d0c5a11</podcast:guid>
${episodes.map((episode) => itemText(episode, origin)).join('\n')}
</channel>
</rss>
`;

function itemText(episode: Episode, origin: string): string {
  const { number, title, date, minutes } = episode;
  return `<item>
<title>${title}</title>
<guid isPermaLink="false">sandbox-hour-${number}</guid>
<link>https://example.com/sandbox-hour/${number}</link>
<pubDate>${new Date(`${date}T06:00:00Z`).toUTCString()}</pubDate>
<itunes:duration>${minutes}:00</itunes:duration>
<enclosure url="${origin}${audioPath(episode)}" length="${minutes * 960_000}" type="audio/mpeg"/>
</item>`;
}
