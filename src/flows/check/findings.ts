/** What a person must look at in a transcript: marked gaps and doubts, speakers, and times. */
import { plural } from '../../lib/text.ts';
import type { Segment, TranscriptFile, TranscriptText } from '../../transcripts/model.ts';
import { isUnnamed } from '../../transcripts/speakers.ts';
import { unmarked } from '../../transcripts/write.ts';
import { type CaptionRules, captionFindings, cuesOf } from './captions.ts';
import { beginning, type Finding, type Judged, judge } from './finding.ts';
import { marksIn, PAST_END } from './marks.ts';

/** After so many segments or cues, others get a turn: an interruption, and the line that shows how far it is. */
const TURN = 2000;

/** In the order of their lines. `nextTurn` throws where the work is to end. */
export async function findingsIn(
  { segments: marked, faults, format, repeats }: TranscriptText,
  { duration }: Pick<TranscriptFile, 'duration'>,
  { rules, nextTurn }: { readonly rules: CaptionRules | undefined; readonly nextTurn: () => Promise<void> },
): Promise<Judged[]> {
  const found = faults.map(({ line, message }) => judge({ rule: 'broken-cue', line, text: message }));
  const addFrom = async <Item>(items: Iterable<Item>, findings: (item: Item) => Finding[]): Promise<void> => {
    let count = 0;
    for (const item of items) {
      if (count++ % TURN === 0) await nextTurn();
      for (const finding of findings(item)) found.push(judge(finding));
    }
  };
  if (repeats)
    found.push(
      judge({
        rule: 'repeated-lines',
        line: repeats.line,
        text: `${plural(repeats.count, 'caption')} repeat the lines before`,
      }),
    );
  const last = endOf(duration);
  const segments = marked.map(unmarked);
  await addFrom(segments, (segment) => marksIn(segment, last));
  found.push(...speakersIn(segments).map(judge));
  await addFrom(segments, timeFindings(last));
  if (format === 'vtt' || format === 'srt') await addFrom(cuesOf(segments, format), captionFindings(rules));
  if (found.length === 0 && !segments.some(({ text }) => text.trim()))
    found.push(judge({ rule: 'broken-cue', line: 1, text: 'there are no words in it' }));
  return found.sort((one, other) => one.line - other.line);
}

/** More are no speakers: each is compared with each. */
const MAX_SPEAKERS = 200;

/** Each speaker once, where the name is first used. */
function speakersIn(segments: readonly Segment[]): Finding[] {
  const first = new Map<string, Segment>();
  for (const segment of segments)
    if (segment.speaker !== undefined && !first.has(segment.speaker) && first.size < MAX_SPEAKERS)
      first.set(segment.speaker, segment);
  const named = [...first.keys()].filter((name) => !isUnnamed(name));
  return [...first].flatMap(([name, { line, start, text }]): Finding[] => {
    if (isUnnamed(name))
      return [{ rule: 'unnamed-speaker', line, start, text: `${name}: ${beginning(text)}` }];
    const longer = named.find((other) => isShortFor(name, other));
    return longer ? [{ rule: 'name-change', line, start, text: `${name}, elsewhere ${longer}` }] : [];
  });
}

const wordsOf = (name: string): string[] =>
  name
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}\s]/gu, '')
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean);

/** `Jerry` or `Mr. Coleman` for `Jerry Coleman`; of two spellings of the same words, the later one. */
function isShortFor(name: string, other: string): boolean {
  const [words, long] = [wordsOf(name), wordsOf(other)];
  const title = words.find((word) => titles.has(word));
  // Mr. and Mrs. Smith are two.
  const isAnother = title !== undefined && long.some((word) => titles.has(word) && word !== title);
  if (name === other || isAnother) return false;
  const short = words.filter((word) => !titles.has(word));
  if (short.length === 0 || !short.every((word) => long.includes(word))) return false;
  return short.length < long.length || name > other;
}

const titles = new Set(['mr', 'mrs', 'ms', 'miss', 'dr', 'prof', 'professor', 'sir']);

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** A length in whole minutes is rounded. */
const endOf = (duration: number | undefined): number | undefined =>
  duration ? duration + (duration % MINUTE ? SECOND : MINUTE) : undefined;

/** Times that go backwards, or on after the audio has ended. Takes the segments in their order. */
function timeFindings(last = Number.POSITIVE_INFINITY): (segment: Segment) => Finding[] {
  let before: Segment | undefined;
  return (segment) => {
    const { line, start, end, text, isSameCue } = segment;
    if (start === undefined || isSameCue) return [];
    // How long an empty cue is shown does not matter.
    const wrong = wrongTime(start, text ? end : undefined, before?.start ?? 0);
    const isPast = (end ?? start) > last;
    before = segment;
    if (wrong) return [{ rule: 'time-order', line, start, text: `${wrong}: ${beginning(text)}` }];
    return isPast ? [{ rule: 'outside-audio', line, start, text: `${PAST_END}: ${beginning(text)}` }] : [];
  };
}

function wrongTime(start: number, end: number | undefined, before: number): string | undefined {
  if (start < before) return 'starts before the previous one';
  if (end === start) return 'ends when it starts';
  return end !== undefined && end < start ? 'ends before it starts' : undefined;
}
