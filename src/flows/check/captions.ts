/** How captions must be, so that people can read them. */
import type { Segment } from '../../transcripts/model.ts';
import { beginning, type Finding } from './finding.ts';

interface Limits {
  /** In characters, spaces and punctuation included. */
  readonly lineLength?: number;
  readonly lines?: number;
  readonly charactersPerSecond?: number;
  readonly wordsPerMinute?: number;
  /** In milliseconds. */
  readonly shortest?: number;
  readonly longest?: number;
  readonly gap?: number;
}

/** Figures of the Netflix, BBC and Podcasting 2.0 guides. A gap is two frames, at 30 a second. */
const limits = {
  netflix: {
    ...{ lineLength: 42, lines: 2, charactersPerSecond: 20 },
    ...{ shortest: 833, longest: 7000, gap: 66 },
  },
  bbc: { lines: 2, wordsPerMinute: 180 },
  podcast: { lineLength: 65 },
  podcastSrt: { lineLength: 32, lines: 2 },
} as const satisfies Record<string, Limits>;

export const captionRules = ['netflix', 'bbc', 'podcast'] as const;

export type CaptionRules = (typeof captionRules)[number];

/** What is on the screen at a time: in a cue, several people may speak. */
interface Cue extends Pick<Segment, 'line' | 'start' | 'end'> {
  readonly format: 'vtt' | 'srt';
  readonly lines: string[];
  /** Nothing is said in it: a name alone does not count. */
  isEmpty: boolean;
}

export function* cuesOf(segments: readonly Segment[], format: Cue['format']): Generator<Cue> {
  let cue: Cue | undefined;
  for (const segment of segments) {
    const { line, start, end, isSameCue } = segment;
    if (cue && !isSameCue) yield cue;
    if (!cue || !isSameCue) cue = { format, line, start, end, lines: [], isEmpty: true };
    addTo(cue, segment);
  }
  if (cue) yield cue;
}

/** Subtitles of SubRip show the speaker's name. */
function addTo(cue: Cue, { speaker, text }: Segment): void {
  const shown = cue.format === 'srt' && speaker ? `${speaker}: ${text}` : text;
  for (const line of shown.split('\n')) if (line) cue.lines.push(line);
  if (text.trim() !== '') cue.isEmpty = false;
}

/** Takes the cues in their order. */
export function captionFindings(rules: CaptionRules | undefined): (cue: Cue) => Finding[] {
  let before: Cue | undefined;
  let [lastStart, latestEnd] = [0, 0];
  return (cue) => {
    const { line, start = -1, end = 0, lines, isEmpty } = cue;
    const found: Finding[] = [];
    const add: Adder = (isWrong, rule, what) => {
      if (!isWrong) return;
      const text = lines.length ? `${what}: ${beginning(lines.join(' '))}` : what;
      found.push({ rule, line, start: cue.start, text });
    };
    add(start >= lastStart && start < latestEnd, 'overlap', 'starts before an earlier one ends');
    add(isEmpty, 'empty-cue', 'no words');
    if (rules && !isEmpty) addFaultsOfStyle(add, cue, before, limitsOf(rules, cue));
    if (start >= 0) [lastStart, latestEnd] = [start, Math.max(latestEnd, end)];
    before = cue;
    return found;
  };
}

type Adder = (isWrong: boolean, rule: Finding['rule'], what: string) => void;

const limitsOf = (rules: CaptionRules, { format }: Cue): Limits =>
  limits[rules === 'podcast' && format === 'srt' ? 'podcastSrt' : rules];

function addFaultsOfStyle(
  add: Adder,
  { start, end, lines }: Cue,
  before: Cue | undefined,
  most: Limits,
): void {
  const widest = lines.reduce((longest, line) => Math.max(longest, lengthOf(line)), 0);
  add(widest > (most.lineLength ?? widest), 'line-length', `${widest} characters (limit ${most.lineLength})`);
  const count = lines.length;
  add(count > (most.lines ?? count), 'line-count', `${count} lines (limit ${most.lines})`);
  if (start === undefined || end === undefined || end <= start) return;
  const [shown, text] = [end - start, lines.join(' ')];
  add(shown < (most.shortest ?? 0), 'too-short', `${seconds(shown)} s (minimum ${seconds(most.shortest)} s)`);
  add(shown > (most.longest ?? shown), 'too-long', `${seconds(shown)} s (limit ${seconds(most.longest)} s)`);
  const speed = (lengthOf(text) * 1000) / shown;
  const words = (text.split(/\s+/).filter(Boolean).length * 60_000) / shown;
  const [fastest, mostWords] = [most.charactersPerSecond ?? speed, most.wordsPerMinute ?? words];
  add(speed > fastest, 'reading-speed', `${Math.round(speed)} characters a second (limit ${fastest})`);
  add(words > mostWords, 'reading-speed', `${Math.round(words)} words a minute (limit ${mostWords})`);
  const pause = start - (before?.end ?? Number.NEGATIVE_INFINITY);
  const isClose = pause >= 0 && pause < (most.gap ?? 0);
  add(isClose, 'cue-gap', `${pause} ms after the previous one (minimum ${most.gap} ms)`);
}

const seconds = (ms = 0): string => (ms / 1000).toFixed(2);

/**
 * In characters: some are two units, and a mark of ours shows nothing. Speed: a list of the characters of an endless line
 * would fill the memory.
 */
const lengthOf = (text: string): number =>
  text.replace(/[\ud800-\udbff](?=[\udc00-\udfff])|\u2060/g, '').length;
