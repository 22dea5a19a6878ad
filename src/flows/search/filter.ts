/** The filters of `search` and `quote`, as they are given. */
import { usage } from '../../lib/errors.ts';
import { nowMs, parseSince } from '../../lib/time.ts';
import type { TranscriptFilter } from '../transcripts/on-disk.ts';
import { speakerFilter } from './search.ts';
import { wordsOf } from './words.ts';

interface Given extends Pick<TranscriptFilter, 'order' | 'tag' | 'feed'> {
  readonly file: readonly string[];
  readonly speaker: string | undefined;
  readonly since: string | undefined;
}

export function filterOf({ file, order, tag, feed, speaker, since: given }: Given) {
  if (speaker !== undefined && wordsOf(speaker).length === 0)
    throw usage(`there is no name in --speaker '${speaker}'`, 'give a part of the name: --speaker Ada');
  const since = given === undefined ? undefined : Date.parse(parseSince(given, nowMs()));
  const files = file.length ? file : undefined;
  const filter: TranscriptFilter = { files, order, tag, feed, since };
  const isFiltered = Object.values(filter).some((each) => each !== undefined);
  return { filter, isFiltered, isSpokenBy: speakerFilter(speaker) };
}
