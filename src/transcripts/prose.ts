/** Transcripts to read: paragraphs that begin with a speaker, and perhaps with a time. */
import { oneLine } from '../lib/text.ts';
import { CLOCK, clockMs } from './cues.ts';
import { areCaptions, type Fault, type Segment, type TranscriptText } from './model.ts';
import type { TextLine } from './page.ts';
import { isLabelled, nameIn, type Said, splitSpeaker } from './speakers.ts';

/** The head is looked for in this many lines, blank ones included; its title has fewer. */
const [MAX_HEAD_LINES, MAX_TITLE_LINES] = [30, 3];

interface Paragraph {
  readonly line: number;
  /** NaN if the timestamp is not a valid time. */
  readonly start?: number | undefined;
  readonly speaker?: string | undefined;
  readonly isHead: boolean;
  readonly isHeading: boolean;
  readonly lines: string[];
}

type Prose = Pick<TranscriptText, 'segments' | 'faults'>;

/** `isStamped`: a line may begin with a time that has no brackets around it. */
export function readProse(given: readonly TextLine[], isStamped: boolean): Prose {
  const lines = timesAfterNames(given);
  const nameAndTime = isStamped ? nameBeforeTime : nameAboveText(lines);
  const begunIn = (text: string): Begun => begun(text, isStamped, nameAndTime);
  const head = headOf(lines, begunIn);
  const all: Paragraph[] = [];
  const faults: Fault[] = [];
  let isOpen = false;
  for (const [at, { line, text: raw, isHeading = false }] of lines.entries()) {
    const isHead = at < head;
    const { start, speaker, text } = isHead || isHeading ? { text: raw.trim() } : begunIn(raw);
    if (Number.isNaN(start)) faults.push({ line, message: `not a valid time: ${oneLine(raw, 60)}` });
    const before = all.at(-1);
    const isNew = start !== undefined || speaker !== undefined;
    // A blank line ends a paragraph, but not a speaker's name on a line of its own.
    if (text === '' && !isNew) isOpen = isEmpty(before);
    else if (isNew || !isOpen || before?.isHead !== isHead || before.isHeading !== isHeading) {
      isOpen = true;
      all.push(continued({ line, start, speaker, isHead, isHeading, lines: [text] }, before));
    } else before.lines.push(text);
  }
  return { segments: all.map(segmentOf).filter(({ text }) => text !== ''), faults };
}

/** Before the first time, more segments than these are no head. */
const MAX_UNTIMED = 5;

/** Without the head, which is also what nobody says before the first time. */
export function spokenIn({ format, segments }: TranscriptText): readonly Segment[] {
  const timed = areCaptions(format) ? 0 : segments.findIndex(({ start }) => start !== undefined);
  const first = format === 'tstxt' || timed <= MAX_UNTIMED ? timed : 0;
  const isSpoken = ({ isHead, speaker }: Segment, at: number): boolean =>
    !isHead && (at >= first || speaker !== undefined);
  return segments.some(isSpoken) ? segments.filter(isSpoken) : segments;
}

const isEmpty = (paragraph: Paragraph | undefined): boolean =>
  paragraph?.lines.every((line) => line === '') === true;

/** By the last speaker, unless it has one. A time on a line of its own is that of the speaker below it. */
function continued(paragraph: Paragraph, before: Paragraph | undefined): Paragraph {
  if (paragraph.isHead || paragraph.isHeading || !before) return paragraph;
  const start = paragraph.start ?? (isEmpty(before) ? before.start : undefined);
  return { ...paragraph, start, speaker: paragraph.speaker ?? before.speaker };
}

const segmentOf = ({ line, start, speaker, isHead, lines }: Paragraph): Segment => ({
  line,
  start: Number.isNaN(start) ? undefined : start,
  speaker,
  text: lines.filter(Boolean).join('\n'),
  isHead: isHead || undefined,
});

/** A title that looks like a speaker's words has one of these under it. */
const underTitle = /^(?:audio|duration|file|filename|job|length|link|order|source|url)\s?[:：]/i;

/** How many lines stand before the conversation: its title, source and length. */
function headOf(lines: readonly TextLine[], begunIn: (text: string) => Begun): number {
  const first = [...lines.slice(0, MAX_HEAD_LINES).entries()].filter(([, { text }]) => text.trim() !== '');
  let head = 0;
  for (const [at, [index, { text, isHeading }]] of first.entries()) {
    const { start, speaker } = begunIn(text);
    const isTitle = isHeading || (at === 0 && underTitle.test(first[1]?.[1].text ?? ''));
    if (start !== undefined || (speaker !== undefined && !isTitle)) break;
    if (isLabelled(text)) head = index + 1;
    else if (head || at >= MAX_TITLE_LINES) break;
  }
  return head;
}

const fromTo = /^\s*(\d{1,3}:\d{1,2}:\d{1,2})(\.\d{1,3})?\d* --> \d{1,3}:\d{1,2}:\d{1,2}(?:\.\d+)?\s*$/;

/** Teams wrote `0:0:3.4 --> 0:0:5.1` into documents, and under it a name: like others, `Ada (00:00:03.4):`. */
function timesAfterNames(lines: readonly TextLine[]): readonly TextLine[] {
  if (!lines.some(({ text }) => fromTo.test(text))) return lines;
  let time: string | undefined;
  return lines.flatMap((each) => {
    const [all, clock = '', fraction = ''] = fromTo.exec(each.text) ?? [];
    if (all) time = clock.replace(/\b\d\b/g, '0$&') + fraction;
    else if (time === undefined || each.text === '') return [each];
    else {
      const name = nameIn(each.text);
      const text = name ? `${each.text.trim()} (${time}):` : `[${time}] ${each.text}`;
      time = undefined;
      return [
        { ...each, text: '' },
        { ...each, text },
      ];
    }
    return [];
  });
}

interface Begun extends Said {
  readonly start?: number | undefined;
}

const inBrackets = new RegExp(`^\\s*[[(](${CLOCK})[\\])]`);
const bare = new RegExp(`^\\s*(${CLOCK})(?=\\s|$)`);
/** `Monday (10:30) is when it leaves` has no colon. Speed: most lines have no such bracket. */
const afterName = new RegExp(
  `^(?=.{1,64}?[[(]\\d)(.{1,60}?)(?::\\s{0,3}[[(](${CLOCK})[\\])]:?|\\s{0,3}[[(](${CLOCK})[\\])](?::|\\s*$))`,
);
/** Zoom: the time of day. */
const nameInBrackets = new RegExp(`^\\s*(\\[[^[\\]]{1,60}\\])\\s{1,3}(${CLOCK})\\s*$`);
const nameBeforeTime = new RegExp(`^(.{1,60}?)\\s{1,9}(${CLOCK})$`);
const nameFarFromTime = new RegExp(`^(.{1,60}?)(?:\\t|\\s{2,9})(${CLOCK})$`);

/** Otter and Teams write `Ada Lovelace   0:03` above what Ada says. A single such line may be anything. */
function nameAboveText(lines: readonly TextLine[]): RegExp | undefined {
  const isNamed = ({ text }: TextLine): boolean =>
    /\d/.test(text.trimEnd().slice(-1)) && nameIn(nameFarFromTime.exec(text.trim())?.[1] ?? '') !== undefined;
  return lines.filter(isNamed).length > 1 ? nameFarFromTime : undefined;
}

/** `[00:01:02] Ada: text`, `Ada (00:01:02): text`, `00:01:02 Ada: text`; `nameAndTime` is a line that is only these. */
function begun(line: string, isStamped: boolean, nameAndTime: RegExp | undefined): Begun {
  const timeOf = (clock: string): number | undefined =>
    clockMs(clock) ?? (isStamped ? Number.NaN : undefined);
  const stamp = inBrackets.exec(line) ?? (isStamped ? bare.exec(line) : null);
  if (stamp) {
    const start = timeOf(stamp[1] ?? '');
    const said = splitSpeaker(line.slice(stamp[0].length).replace(/^\s*[-–—]\s/, ''));
    // Without seconds and speaker it may be the time of day that somebody says.
    const isSure = /^\s*[[(]/.test(stamp[0]) || /:.*:/.test(stamp[0]) || said.speaker || said.text === '';
    return start !== undefined && isSure ? { start, ...said } : splitSpeaker(line);
  }
  const [all = '', name = '', clock, other = ''] =
    nameInBrackets.exec(line) ?? afterName.exec(line) ?? nameAndTime?.exec(line.trim()) ?? [];
  const [speaker, start] = [nameIn(name), timeOf(clock ?? other)];
  return start === undefined || speaker === undefined
    ? splitSpeaker(line)
    : { start, speaker, text: line.trim().slice(all.trim().length).trim() };
}
