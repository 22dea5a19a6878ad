/** Which episodes of a feed are meant. */

import { runInNewContext } from 'node:vm';
import { errorMessage, usage } from '../lib/errors.ts';
import { oneLine } from '../lib/text.ts';
import type { Draft, Episode, Feed } from './feed.ts';

export interface Choice {
  /** At most so many, the newest. */
  readonly latest?: number | undefined;
  /** ISO 8601; from then on. */
  readonly since?: string | undefined;
  readonly match?: TitleMatch | undefined;
  /** Also episodes that have a transcript. */
  readonly again?: boolean | undefined;
}

export interface Chosen {
  /** The newest first. */
  readonly episodes: readonly Episode[];
  /** Left out, because the feed offers a transcript of them. */
  readonly withTranscript: readonly Episode[];
  /** Left out under `since`, because the feed does not say when they came out. */
  readonly undated: readonly Episode[];
  /** Left out, because the feed spoiled their audio. */
  readonly spoiled: readonly Episode[];
}

/** Without one of these, all episodes of a feed would be bought. */
export const isChoice = ({ latest, since, match }: Choice): boolean =>
  latest !== undefined || since !== undefined || match !== undefined;

/**
 * First what `since` and `match` say, of that the latest, of these those without a transcript: one that has a
 * transcript is not replaced by an older one.
 */
export function chooseEpisodes(feed: Feed, { latest, since, match, again = false }: Choice): Chosen {
  const matching = match ? matchingTitles(feed.episodes, match) : feed.episodes;
  const undated = since === undefined ? [] : matching.filter(({ published }) => published === undefined);
  const meant = newestFirst(matching)
    .filter(({ published = '' }) => since === undefined || published >= since)
    .slice(0, latest);
  const wanted = meant.filter(({ hasTranscript }) => again || !hasTranscript);
  const episodes = wanted.filter(({ problem }) => !problem);
  const spoiled = wanted.filter(({ problem }) => problem);
  const [first] = spoiled;
  if (first && episodes.length === 0)
    throw usage(`the episode ${nameOf(first)} can't be ordered: ${first.problem}`);
  checkGuids(episodes);
  return {
    episodes,
    spoiled,
    withTranscript: again ? [] : meant.filter(({ hasTranscript }) => hasTranscript),
    undated,
  };
}

/**
 * Says after each page, by the episodes that it adds, whether older pages may have more of what is meant. Where a feed
 * does not begin with the newest, only its end tells.
 */
export function olderWanted({ latest, since, match }: Choice): (added: readonly Draft[]) => boolean {
  let [first, last] = ['', ''];
  let isSorted = true;
  let found = 0;
  return (added) => {
    const dates = added.flatMap(({ published }) => published ?? []);
    for (const date of dates) {
      first ||= date;
      isSorted &&= last === '' || date <= last;
      last = date;
    }
    const recent = added.filter(({ published = '' }) => since === undefined || published >= since);
    const meant = match ? matchingTitles(recent, match) : recent;
    // One with a date goes before all that have none.
    found += meant.filter(({ published }) => published !== undefined || first === '').length;
    if (first < last) return true;
    if (latest !== undefined && found >= latest) return false;
    if (since === undefined || dates.length === 0) return true;
    return isSorted ? last >= since : dates.some((date) => date >= since);
  };
}

function matchingTitles<One extends Draft>(episodes: readonly One[], match: TitleMatch): One[] {
  const isMatch = match(episodes.map(({ title }) => title));
  return episodes.filter((_, at) => isMatch[at]);
}

/** By date; those without one at the end. Of the same date, as the feed lists them: feeds begin with the newest. */
const newestFirst = (episodes: readonly Episode[]): Episode[] =>
  [...episodes].sort(({ published: a = '' }, { published: b = '' }) => Number(a < b) - Number(a > b));

/** One of two episodes with the same guid would never be ordered. */
function checkGuids(episodes: readonly Episode[]): void {
  const guids = new Set<string>();
  for (const episode of episodes) {
    if (episode.guid === undefined) continue;
    if (guids.has(episode.guid))
      throw usage(
        `two of the chosen episodes have the guid '${oneLine(episode.guid, 80)}', with different audio`,
        'choose one of them with --match, or order them by their URLs',
      );
    guids.add(episode.guid);
  }
}

export const nameOf = ({ title, guid, url }: Episode): string =>
  `'${oneLine(title || guid || url.replace(/[?#].*$/s, ''), 80)}'`;

// `--match`: which titles hold a text, or fit a regular expression between slashes.

/** Says of each title whether it is meant. */
type TitleMatch = (titles: readonly string[]) => boolean[];

const MAX_PATTERN_LENGTH = 1_000;
/** For all titles together. 10,000 of them take some milliseconds, but `(a+)+$` may take longer than we live. */
const MAX_MILLISECONDS = 2_000;

/** A text is found anywhere in a title, in capitals or not; `/^news \d+/i` is a regular expression. */
export function parseMatch(text: string): TitleMatch {
  if (text.trim() === '') throw usage('--match requires a text or a /regular expression/');
  if (text.length > MAX_PATTERN_LENGTH) throw usage(`--match takes at most ${MAX_PATTERN_LENGTH} characters`);
  const [, source, flags = ''] = /^\/(.+)\/([a-z]*)$/is.exec(text) ?? [];
  if (source === undefined) return (titles) => titles.map((title) => folded(title).includes(folded(text)));
  return (titles) => testAll(toRegExp(source, flags), titles, text);
}

const folded = (text: string): string => text.normalize('NFC').toLowerCase();

function toRegExp(source: string, flags: string): RegExp {
  // Others change where a search begins, not what fits.
  if (!/^[imsuv]*$/.test(flags))
    throw usage(`--match: '${flags}' are not flags of a regular expression`, 'these are: i, m, s, u, v');
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw usage(`--match: ${oneLine(errorMessage(error), 200)}`);
  }
}

/** In a context of its own, because only that can be stopped while an expression runs. */
function testAll(pattern: RegExp, titles: readonly string[], text: string): boolean[] {
  try {
    const context = { pattern, titles };
    const tests = 'titles.map((title) => pattern.test(title))';
    return [...(runInNewContext(tests, context, { timeout: MAX_MILLISECONDS }) as boolean[])];
  } catch (error) {
    if (!isTimeout(error)) throw error;
    throw usage(
      `--match: ${oneLine(text, 80)} takes more than ${MAX_MILLISECONDS / 1_000} s`,
      'avoid a repeat inside a repeat, such as (a+)+',
    );
  }
}

/** The error is of the other context, so it is no Error of ours. */
const isTimeout = (error: unknown): boolean =>
  (error as { code?: unknown } | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
