/** What a person must look at in a transcript: marked gaps and doubts, speakers, and times. */

import { CLOCK, clockMs } from '../../transcripts/cues.ts';
import type { Segment, TranscriptFile, TranscriptText } from '../../transcripts/model.ts';
import { isUnnamed } from '../../transcripts/speakers.ts';
import { type CaptionRules, captionFindings, cuesOf } from './captions.ts';
import { around, beginning, type Finding } from './finding.ts';

/** In the order of their lines. */
export function findingsIn(
  { segments, faults, format }: TranscriptText,
  { duration }: Pick<TranscriptFile, 'duration'>,
  rules: CaptionRules | undefined,
): Finding[] {
  const found: Finding[] = [
    ...faults.map(({ line, message }): Finding => ({ rule: 'broken-cue', line, text: message })),
    ...segments.flatMap(marksIn),
    ...speakersIn(segments),
    ...timesIn(segments, duration),
    ...(format === 'vtt' || format === 'srt' ? captionFindings(cuesOf(segments, format), rules) : []),
  ];
  return found.sort((one, other) => one.line - other.line);
}

/** In brackets or parentheses; no mark is longer. */
const bracketed = /([[(])([^[\]()\n]{1,60})[\])]|_{3,}/g;
const gap =
  /^(?:x{2,}|\.{3,}|…|-{2,}|_{2,}|gap|blank|inaudible|unintelligible|indiscernible|incomprehensible|unclear|indistinct|cross-?\s?talk|over-?talk(?:ing)?|overlapping|simultaneous|garbled|muffled|no audio|audio (?:gap|cuts?|drops?|break))(?![\p{L}\p{N}])/iu;
const doubt = /^\s*\?+\s*$|^(?:ph|phon|phonetic|sp|spelling|guess)\s?\??$/i;
const doubtful = /^\?|\?$/;
const clock = new RegExp(CLOCK);

/** More in one paragraph are no marks of a transcriber. */
const MAX_MARKS = 1000;

function marksIn({ line, start, text }: Segment): Finding[] {
  const found: Finding[] = [];
  let [row, counted] = [line, 0];
  for (const { 0: mark, 1: bracket, 2: content = '', index } of text.matchAll(bracketed)) {
    const rule = markOf(content.trim(), bracket);
    if (!rule) continue;
    row += text.slice(counted, index).split('\n').length - 1;
    counted = index;
    // A mark may have a time of its own, which is more precise.
    const at = clockMs(clock.exec(content)?.[0] ?? '') ?? start;
    found.push({ rule, line: row, start: at, text: around(text, index, mark.length) });
    if (found.length === MAX_MARKS) break;
  }
  return found;
}

function markOf(content: string, bracket: string | undefined): 'gap' | 'doubt' | undefined {
  if (bracket === undefined || gap.test(content)) return 'gap';
  return doubt.test(content) || (bracket === '[' && doubtful.test(content)) ? 'doubt' : undefined;
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
  if (name === other) return false;
  const [short, long] = [wordsOf(name).filter((word) => !titles.has(word)), wordsOf(other)];
  if (short.length === 0 || !short.every((word) => long.includes(word))) return false;
  return short.length < long.length || name > other;
}

const titles = new Set(['mr', 'mrs', 'ms', 'miss', 'dr', 'prof', 'professor', 'sir']);

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Times that go backwards, or on after the audio has ended. */
function timesIn(segments: readonly Segment[], duration: number | undefined): Finding[] {
  // A length in whole minutes is rounded.
  const last = duration && duration + (duration % MINUTE ? SECOND : MINUTE);
  let before = 0;
  return segments.flatMap(({ line, start, end = start, text }): Finding[] => {
    if (start === undefined || end === undefined) return [];
    const isBack = start < before;
    before = start;
    const at = { line, start };
    if (isBack)
      return [{ rule: 'time-order', ...at, text: `begins before the one above it: ${beginning(text)}` }];
    if (end < start)
      return [{ rule: 'time-order', ...at, text: `ends before it begins: ${beginning(text)}` }];
    if (last && end > last)
      return [{ rule: 'outside-audio', ...at, text: `the audio has ended: ${beginning(text)}` }];
    return [];
  });
}
