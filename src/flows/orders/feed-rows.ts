/** The chosen episodes of a podcast feed, as rows to order. */
import { type Choice, type Chosen, chooseEpisodes, isChoice, nameOf } from '../../feeds/choose.ts';
import type { Episode, Feed } from '../../feeds/feed.ts';
import { parseMatch } from '../../feeds/match.ts';
import { type FeedReading, readFeed } from '../../feeds/read.ts';
import { makeEpisode } from '../../ledger/audio-names.ts';
import { withoutSignature } from '../../lib/audio-identity.ts';
import { nowMs } from '../../lib/clock.ts';
import { type StenoError, usage } from '../../lib/errors.ts';
import { parseSince } from '../../lib/since.ts';
import { oneLine, plural } from '../../lib/text.ts';
import type { LeftOut } from '../uploads/audio-files.ts';
import type { Row } from './manifest-row.ts';

export interface FeedInput {
  /** An address or a file. */
  readonly feed: string | undefined;
  readonly latest: number | undefined;
  readonly since: string | undefined;
  readonly match: string | undefined;
  readonly again: boolean;
}

export interface FeedRows {
  readonly rows: readonly Row[];
  /** No episodes were chosen: the rows are all of them, and none is to be ordered. */
  readonly isWholeFeed: boolean;
  /** What people are told of the choice. */
  readonly notes: readonly string[];
  /** Episodes that can't be ordered. */
  readonly leftOut: readonly LeftOut[];
  readonly counted: readonly CountedRows[];
}

/** What is left out for one and the same reason, and is told in one line. */
export interface CountedRows {
  /** `left out because …` */
  readonly because: string;
  readonly rows: readonly LeftOut[];
}

export async function feedRows(
  source: string,
  input: FeedInput,
  notes: string | undefined,
  reading: FeedReading,
): Promise<FeedRows> {
  const choice = choiceOf(input);
  const feed = await readFeed(source, reading);
  if (!isChoice(choice)) {
    const rows = feed.episodes
      .filter(({ problem }) => !problem)
      .map((episode) => rowOf(episode, notes, feed));
    return { rows, isWholeFeed: true, notes: [], leftOut: leftOutOf(feed.episodes), counted: [] };
  }
  const chosen = chooseEpisodes(feed, choice);
  return {
    rows: chosen.episodes.map((episode) => rowOf(episode, notes, feed)),
    isWholeFeed: false,
    notes: notesOf(feed, chosen),
    leftOut: leftOutOf(chosen.spoiled),
    counted: countedOf(chosen),
  };
}

/** What the feed spoiled holds up no other, and is never passed over in silence. */
const leftOutOf = (episodes: readonly Episode[]): LeftOut[] =>
  episodes.flatMap((episode) =>
    episode.problem
      ? [
          {
            path: `the episode ${nameOf(episode)}`,
            reason: episode.problem,
            url: withoutSignature(episode.enclosure.url),
          },
        ]
      : [],
  );

/** Nobody buys a whole back catalogue by accident. */
export const wholeFeedError = (episodes: number): StenoError =>
  usage(
    `the feed has ${plural(episodes, 'episode')}; nothing was ordered`,
    'choose some of them with --latest <n>, --since <time> or --match <text>',
  );

const choiceOf = ({ latest, since, match, again }: FeedInput): Choice => ({
  latest,
  since: since === undefined ? undefined : parseSince(since, nowMs()),
  match: match === undefined ? undefined : parseMatch(match),
  again,
});

const rowOf = (episode: Episode, notes: string | undefined, feed: Feed): Row => {
  const { title, published, seconds, guid, link, enclosure, names } = episode;
  const details = { title, published, seconds, guid, link, feed: feed.title || feed.link };
  return {
    at: `episode '${oneLine(title || guid || enclosure.url, 80)}'`,
    url: enclosure.url,
    audio: makeEpisode(enclosure.url, names, details),
    notes: notes === undefined ? undefined : fillNotes(notes, episode),
  };
};

/** `{title}`, `{link}`, `{date}` and `{guid}` in the notes are those of the episode. */
const fillNotes = (notes: string, { title, link = '', published = '', guid = '' }: Episode): string =>
  notes.replace(/\{(title|link|date|guid)\}/g, (_, name: string) => {
    const values: Readonly<Record<string, string>> = { title, link, guid, date: published.slice(0, 10) };
    return values[name] ?? '';
  });

function notesOf(feed: Feed, { episodes }: Chosen): string[] {
  const name = feed.title ? `'${oneLine(feed.title, 80)}'` : 'the feed';
  return [`${plural(episodes.length, 'episode')} of ${feed.episodes.length} in ${name}`];
}

function countedOf({ withTranscript, undated }: Chosen): CountedRows[] {
  const rows = (episodes: readonly Episode[], why: LeftOut['why'], because: string): CountedRows => ({
    because,
    rows: episodes.map((episode) => ({
      ...{ path: nameOf(episode), reason: because, why, url: withoutSignature(episode.enclosure.url) },
    })),
  });
  return [
    rows(withTranscript, 'transcript', 'the feed has a transcript of it (--again orders it)'),
    rows(undated, 'undated', 'the feed does not say when it came out'),
  ];
}
