/** The chosen episodes of a podcast feed, as rows to order. */
import { basename } from 'node:path';
import {
  type Choice,
  type Chosen,
  chooseEpisodes,
  isChoice,
  nameOf,
  parseMatch,
} from '../../feeds/choose.ts';
import type { Episode, Feed } from '../../feeds/feed.ts';
import { type FeedReading, readFeed } from '../../feeds/read.ts';
import { type Audio, type AudioDetails, makeEpisode } from '../../ledger/purchase.ts';
import { type StenoError, usage } from '../../lib/errors.ts';
import { feedMark } from '../../lib/names.ts';
import { oneLine, plural } from '../../lib/text.ts';
import { nowMs, parseSince } from '../../lib/time.ts';
import type { CountedRows, LeftOut } from '../uploads/audio-files.ts';
import type { FoundRows, Row } from './manifest-formats.ts';

export interface FeedInput {
  readonly feed: string | undefined;
  readonly latest: number | undefined;
  readonly since: string | undefined;
  readonly match: string | undefined;
  readonly again: boolean;
}

export interface FeedRows extends FoundRows {
  /** No episodes were chosen: the rows are all of them, and none is to be ordered. */
  readonly isWholeFeed: boolean;
  readonly notes: readonly string[];
  readonly unread?: Exclude<Feed['unread'], string>;
}

export async function feedRows(
  source: string,
  input: FeedInput,
  notes: string | undefined,
  reading: FeedReading,
): Promise<FeedRows> {
  const choice = choiceOf(input);
  const feed = await readFeed(source, reading, choice);
  const unread = feed.unread === 'not needed' ? undefined : feed.unread;
  const ofFeed = feedDetails(feed);
  const chosen = isChoice(choice) ? chooseEpisodes(feed, choice) : undefined;
  const episodes = chosen?.episodes ?? feed.episodes.filter(({ problem }) => !problem);
  return {
    rows: episodes.map((episode) => rowOf(episode, ofFeed, notes)),
    isWholeFeed: !chosen,
    notes: chosen ? notesOf(feed, chosen) : [],
    unread,
    leftOut: leftOutOf(chosen?.spoiled ?? feed.episodes, ofFeed),
    counted: chosen ? countedOf(chosen, ofFeed) : [],
  };
}

/** What the feed spoiled holds up no other, and is never passed over in silence. */
const leftOutOf = (episodes: readonly Episode[], ofFeed: OfFeed): LeftOut[] =>
  episodes.flatMap((episode) => {
    const { problem: reason } = episode;
    const path = `the episode ${nameOf(episode)}`;
    // Its URL may be none, which has no name.
    const audio = { url: episode.url, names: [], details: detailsOf(episode, ofFeed) };
    return reason ? [{ path, reason, audio }] : [];
  });

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

/** What is kept of the feed of an episode; its addresses may hold a token. */
type OfFeed = Pick<AudioDetails, 'feed' | 'feedMarks'>;

function feedDetails({ title, marks: { addresses, path } }: Feed): OfFeed {
  const [address] = addresses;
  const name = address === undefined ? basename(path ?? '') : new URL(address).host;
  return { feed: title || name, feedMarks: [...new Set(addresses.map(feedMark))].join(' ') };
}

const rowOf = (episode: Episode, ofFeed: OfFeed, notes: string | undefined): Row => {
  const { title, guid, url } = episode;
  return {
    at: `episode '${oneLine(title || guid || url, 80)}'`,
    url,
    audio: audioOf(episode, ofFeed),
    notes: notes === undefined ? undefined : fillNotes(notes, episode),
  };
};

const audioOf = (episode: Episode, ofFeed: OfFeed): Audio =>
  makeEpisode(episode.url, episode.names, detailsOf(episode, ofFeed));

const detailsOf = ({ title, published, seconds, guid, link }: Episode, ofFeed: OfFeed): AudioDetails => ({
  ...{ title, published, seconds, guid, link },
  ...ofFeed,
});

/** `{title}`, `{link}`, `{date}` and `{guid}` in the notes are those of the episode. */
const fillNotes = (notes: string, { title, link = '', published = '', guid = '' }: Episode): string =>
  notes.replace(/\{(title|link|date|guid)\}/g, (_, name: string) => {
    const values: Readonly<Record<string, string>> = { title, link, guid, date: published.slice(0, 10) };
    return values[name] ?? '';
  });

function notesOf(feed: Feed, { episodes }: Chosen): string[] {
  const name = feed.title ? `'${oneLine(feed.title, 80)}'` : 'the feed';
  const older = feed.unread === 'not needed' ? ', older ones not needed' : '';
  const pages = feed.pages > 1 || feed.unread ? ` (${plural(feed.pages, 'page')} read${older})` : '';
  return [`${plural(episodes.length, 'episode')} of ${feed.episodes.length} in ${name}${pages}`];
}

function countedOf({ withTranscript, undated }: Chosen, ofFeed: OfFeed): CountedRows[] {
  const rows = (episodes: readonly Episode[], why: LeftOut['why'], because: string): CountedRows => ({
    because,
    rows: episodes.map((episode) => ({
      ...{ path: nameOf(episode), reason: because, why, audio: audioOf(episode, ofFeed) },
    })),
  });
  return [
    rows(withTranscript, 'transcript', 'the feed already has its transcript (add --again to order it)'),
    rows(undated, 'undated', 'the feed has no date for it'),
  ];
}
