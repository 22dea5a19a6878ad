/** The episodes of the sandbox's podcast: its feed and its service say the same of each. */

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
