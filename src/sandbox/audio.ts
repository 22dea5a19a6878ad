/** Made-up audio: the same URL always gives the same, unless its length is known. */
import { decoded } from '../lib/url.ts';
import type { Answer } from './calls.ts';

// The episodes of the sandbox's podcast: its feed and its service say the same of each.

export interface Episode {
  /** The newest has the highest. */
  readonly number: number;
  readonly title: string;
  /** When it came out. */
  readonly date: string;
  readonly minutes: number;
}

const newestFirst = [
  { title: 'How bees find their way home', date: '2026-10-30', minutes: 24 },
  { title: 'The bridge that sings', date: '2026-10-23', minutes: 18 },
  { title: 'A letter from the lighthouse', date: '2026-10-16', minutes: 31 },
  { title: 'Why bread rises', date: '2026-10-09', minutes: 12 },
  { title: 'The last tram', date: '2026-10-02', minutes: 27 },
];

export const episodes: readonly Episode[] = newestFirst.map((episode, at) => ({
  ...episode,
  number: newestFirst.length - at,
}));

export const audioPath = ({ number }: Episode): string => `/audio/sandbox-hour-${number}.mp3`;

/** The episode whose audio a URL is, on whatever port the sandbox was. */
export const episodeAt = (url: string): Episode | undefined => {
  const { pathname } = new URL(url);
  return episodes.find((episode) => audioPath(episode) === pathname);
};

export interface Audio {
  readonly title: string;
  readonly minutes: number;
  readonly stars: number;
}

const MAX_MINUTES = 6_000;

/** `told` is the length that the caller knows the audio by. */
export function audioAt(url: string, told?: number): Audio {
  const hashed = [...url].reduce((hash, character) => (hash * 31 + character.charCodeAt(0)) >>> 0, 7);
  const episode = episodeAt(url);
  return {
    title: episode?.title ?? titleOf(url),
    minutes: minutesIn(url) ?? episode?.minutes ?? told ?? 8 + (hashed % 20),
    stars: url.toLowerCase().includes('difficult') ? 2 : 3 + (hashed % 3),
  };
}

/** `?minutes=35` or `&minutes=12.5` sets the length. */
function minutesIn(url: string): number | undefined {
  const text = new URL(url).searchParams.get('minutes') ?? '';
  const minutes = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  return minutes > 0 && minutes <= MAX_MINUTES ? minutes : undefined;
}

/** The last part of the path without its extension, or the host. */
function titleOf(url: string): string {
  const { pathname, hostname } = new URL(url);
  const last = pathname.split('/').filter(Boolean).at(-1) ?? hostname;
  const words = decoded(last)
    .replace(/\.\w{1,5}$/, '')
    .replace(/[\u0000-\u001f\u007f_\-+\s]+/g, ' ')
    .trim();
  return words === '' ? hostname : words.charAt(0).toUpperCase() + words.slice(1);
}

// A podcast of the sandbox, so that `order --feed sample` can be tried.

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
