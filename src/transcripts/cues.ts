/** Captions: WebVTT and SubRip, as they are found, not only as they should be. */
import { oneLine } from '../lib/text.ts';
import type { Fault, Repeats, Segment } from './model.ts';
import { decodeEntities } from './page.ts';
import { type Cue, withoutRepeats } from './rolling.ts';
import { isUnnamed, type Said, splitSpeaker } from './speakers.ts';

/** hh:mm:ss.mmm, where the hours and the fraction may be missing. */
export const CLOCK = String.raw`(?:\d{1,4}:)?\d{1,2}:\d\d(?:[.,]\d{1,3})?`;

const timing = new RegExp(`^\\s*(${CLOCK})\\s*-->\\s*(${CLOCK})(?:\\s|$)`);
/** What every player reads. */
const strictVttTiming = /^\s*(?:\d+:)?\d\d:\d\d\.\d{3}\s*-->\s*(?:\d+:)?\d\d:\d\d\.\d{3}(?:\s|$)/;
/** Between times of hours or fractions: `10:30 → 11:30` may be said. */
const brokenArrow = new RegExp(
  `^\\s*(?=\\d.{0,40}(?::\\d\\d:|\\d[.,]\\d))${CLOCK}\\s*(?:[-–—]{1,3}(?:>|&gt;)|→)\\s*${CLOCK}`,
);

/** In milliseconds; undefined for what is no time. */
export function clockMs(clock: string): number | undefined {
  const [, hours, minutes, seconds, fraction = ''] =
    /^(?:(\d+):)?(\d+):(\d+)(?:[.,](\d+))?$/.exec(clock) ?? [];
  const [m, s] = [Number(minutes), Number(seconds)];
  if (!(s < 60) || (hours !== undefined && m > 59)) return undefined;
  return (Number(hours ?? 0) * 3600 + m * 60 + s) * 1000 + Number(fraction.padEnd(3, '0'));
}

export interface Cues {
  readonly segments: Segment[];
  readonly faults: Fault[];
  readonly repeats: Repeats | undefined;
  /** Whether anything says that these are captions. */
  readonly areCaptions: boolean;
}

export function readCues(text: string, format: 'vtt' | 'srt'): Cues {
  const lines = text.split('\n');
  const isVtt = format === 'vtt';
  const hasHeader = isVtt && /^WEBVTT(?:\s|$)/.test(lines[0] ?? '');
  const reader = new CueReader(isVtt, hasHeader);
  for (const [at, line] of lines.entries()) reader.add(line, at + 1, lines[at + 1]);
  const { faults } = reader;
  const textOf = (line: string): string => withoutMarkup(line, isVtt);
  const { cues, repeats } = withoutRepeats(reader.cues, textOf);
  const texts = (): string[] => cues.flatMap((cue) => cue.lines.map(textOf));
  const isSpeaker = speakerTest(text, isVtt, () => texts().find((line) => line.trim()));
  const segments = cues.flatMap((cue) => segmentsOf(cue, isVtt, isSpeaker));
  const areCaptions = hasHeader || cues.some(({ start }) => start !== undefined);
  return { segments, faults, repeats, areCaptions };
}

class CueReader {
  readonly cues: Array<Cue & { readonly lines: string[] }> = [];
  readonly faults: Fault[] = [];
  readonly #isVtt: boolean;
  #place: 'text' | 'skipped' | 'between';

  constructor(isVtt: boolean, hasHeader: boolean) {
    this.#isVtt = isVtt;
    this.#place = hasHeader ? 'skipped' : 'between';
    if (isVtt && !hasHeader) this.#fault(1, 'the header WEBVTT is missing');
  }

  add(line: string, number: number, next: string | undefined): void {
    if (this.#isTiming(line)) this.#begin(line, number);
    else if (line === '' || (!this.#isVtt && line.trim() === '')) this.#place = 'between';
    else if (this.#isComment(line)) this.#place = 'skipped';
    else if (!this.#isCueName(line, next)) this.#addText(line, number);
  }

  /** A block that is not shown; a cue may have the name NOTE. */
  #isComment(line: string): boolean {
    const isStart = this.#isVtt && this.#place === 'between' && /^(?:NOTE|STYLE|REGION)(?:\s|$)/.test(line);
    return isStart || this.#place === 'skipped';
  }

  /** Within a text, `&gt;` is what somebody says; a comment may have any arrow. */
  #isTiming(line: string): boolean {
    const hasArrow = line.includes('-->') && /^\s*(?:-?\d|-->)/.test(line);
    const isNone = this.#place === 'skipped' || (this.#place === 'text' && line.includes('&'));
    return hasArrow || (!isNone && brokenArrow.test(line));
  }

  /** The next line is a time. Without a blank line before it, and in SubRip, only a number is a name. */
  #isCueName(line: string, next = ''): boolean {
    return this.#isTiming(next) && ((this.#isVtt && this.#place === 'between') || /^\s*\d+\s*$/.test(line));
  }

  #begin(line: string, number: number): void {
    const times = timesOf(line);
    if (!times) this.#fault(number, `not a valid time: ${oneLine(line, 60)}`);
    else if (this.#isVtt && !strictVttTiming.test(line))
      this.#fault(number, `players need times such as 00:00:01.000: ${oneLine(line, 60)}`);
    this.cues.push({ line: number + 1, ...times, lines: [] });
    this.#place = 'text';
  }

  /** What was said must not be lost: outside of a cue it most likely belongs to the one before. */
  #addText(line: string, number: number): void {
    if (this.#place === 'between') this.#fault(number, 'text outside of a cue');
    if (this.cues.length === 0) this.cues.push({ line: number, lines: [] });
    this.cues.at(-1)?.lines.push(line);
    this.#place = 'text';
  }

  #fault(line: number, message: string): void {
    this.faults.push({ line, message });
  }
}

function timesOf(line: string): Pick<Cue, 'start' | 'end'> | undefined {
  const [, from = '', to = ''] = timing.exec(line) ?? [];
  const [start, end] = [clockMs(from), clockMs(to)];
  return start === undefined || end === undefined ? undefined : { start, end };
}

/** What one speaker says of a cue. */
interface Part {
  readonly line: number;
  readonly speaker?: string | undefined;
  readonly lines: string[];
}

type SpeakerTest = (name: string) => boolean;

const lineWithColon = /^[^\n]*[:：][^\n]*$/gm;

/**
 * Which of the words before a colon are speakers. In SubRip all that look like names: it has no other way to say who
 * speaks. WebVTT has one, so there they must come again, or the captions must begin with one.
 */
function speakerTest(text: string, isVtt: boolean, first: () => string | undefined): SpeakerTest {
  if (!isVtt) return () => true;
  if (voiceTag.test(text)) return isUnnamed;
  const [once, again] = [new Set<string>(), new Set<string>()];
  for (const line of text.match(lineWithColon) ?? []) {
    const { speaker } = splitSpeaker(withoutMarkup(line, true));
    if (speaker !== undefined) (once.has(speaker) ? again : once).add(speaker);
  }
  const beginsWithOne = once.size > 0 && splitSpeaker(first() ?? '').speaker !== undefined;
  return (name) => beginsWithOne || again.has(name) || isUnnamed(name);
}

function segmentsOf({ line, start, end, lines }: Cue, isVtt: boolean, isSpeaker: SpeakerTest): Segment[] {
  const whole = lines.join('\n');
  const hasVoices = isVtt && voiceTag.test(whole);
  const parts = hasVoices
    ? voices(whole, line)
    : named(withoutMarkup(whole, isVtt).split('\n'), line, isSpeaker);
  const said = parts.map((part) => ({
    ...{ line: part.line, start, end, speaker: part.speaker },
    text: part.lines.join('\n').trim(),
  }));
  const filled = said.filter(({ text, speaker }) => text !== '' || speaker !== undefined);
  if (filled.length === 0) return [{ line, start, end, speaker: undefined, text: '' }];
  return filled.map((each, at) => (at > 0 ? { ...each, isSameCue: true } : each));
}

/** Only what is markup for sure: `<` may also be said. */
const vttTag = /<(\/?)(v|c|i|b|u|s|ruby|rt|lang|font)((?:[.\s][^<>]*)?)>|<\d[\d:.]*>/gi;
const srtTag = /<\/?(?:[ibus]|font(?:\s[^<>]*)?)>|\{\\[^{}]*\}/gi;
const voiceTag = /<v[.\s]/i;

const withoutMarkup = (text: string, isVtt: boolean): string =>
  decodeEntities(text.replace(isVtt ? vttTag : srtTag, ''));

/** Of most cues. */
const oneVoice = /^<v ([^<>&]*)>(?=\S)([^<&]*)(?:<\/v>)?$/;

/** `<v Ada>` begins what Ada says, up to its end or to another voice. */
function voices(text: string, line: number): Part[] {
  const [, name, all] = oneVoice.exec(text) ?? [];
  if (name?.trim() && all !== undefined)
    return [{ line, speaker: name.replace(/\s+/g, ' ').trim(), lines: [all] }];
  const parts: Part[] = [];
  let [from, row, begin] = [0, line, line];
  let [speaker, said]: [string | undefined, string] = [undefined, ''];
  const add = (more: string): void => {
    if (said === '') begin = row + breaksIn(/^\s*/.exec(more)?.[0] ?? '');
    said += more;
    row += breaksIn(more);
  };
  const end = (): void => {
    if (said.trim() || speaker) parts.push({ line: begin, speaker, lines: [decodeEntities(said)] });
    said = '';
  };
  for (const { 0: tag, 1: slash, 2: name, 3: more = '', index } of text.matchAll(vttTag)) {
    add(text.slice(from, index));
    from = index + tag.length;
    row += breaksIn(tag);
    if (name?.toLowerCase() !== 'v') continue;
    end();
    speaker = slash
      ? undefined
      : decodeEntities(more.replace(/^\S*/, '').replace(/\s+/g, ' ').trim()) || undefined;
  }
  add(text.slice(from));
  end();
  return parts;
}

export const breaksIn = (text: string): number => (text.includes('\n') ? text.split('\n').length - 1 : 0);

/** `Ada: text`, at the beginning of a line. */
function named(lines: readonly string[], line: number, isSpeaker: SpeakerTest): Part[] {
  const parts: Part[] = [];
  for (const [at, each] of lines.entries()) {
    const { speaker, text } = splitIf(isSpeaker, each);
    const open = parts.at(-1);
    if (speaker !== undefined || !open) parts.push({ line: line + at, speaker, lines: text ? [text] : [] });
    else open.lines.push(text);
  }
  return parts;
}

function splitIf(isSpeaker: SpeakerTest, line: string): Said {
  const said = splitSpeaker(line);
  return said.speaker === undefined || isSpeaker(said.speaker) ? said : { text: line.trim() };
}
