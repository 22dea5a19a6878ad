/** Transcripts to read: paragraphs that begin with a speaker, and perhaps with a time. */
import { CLOCK, clockMs } from './cues.ts';
import type { Segment } from './model.ts';
import type { TextLine } from './page.ts';
import { isLabelled, isName, splitSpeaker } from './speakers.ts';

/** The head of a transcript is looked for in its first lines. */
const MAX_HEAD_LINES = 12;

interface Paragraph {
  readonly line: number;
  readonly start?: number | undefined;
  readonly speaker?: string | undefined;
  readonly isHead: boolean;
  readonly lines: string[];
}

/** `isStamped`: a line may begin with a time that has no brackets around it. */
export function readProse(lines: readonly TextLine[], isStamped: boolean): Segment[] {
  const head = headOf(lines);
  const all: Paragraph[] = [];
  let isOpen = false;
  for (const { line, text, isHeading = false } of lines) {
    const isHead = isHeading || line <= head;
    const { start, speaker, text: said } = isHead ? { text: text.trim() } : begun(text, isStamped);
    const before = all.at(-1);
    const isNew = start !== undefined || speaker !== undefined;
    // A blank line ends a paragraph, but not a speaker's name on a line of its own.
    if (said === '' && !isNew) isOpen = before?.lines.join('') === '';
    else if (isNew || !isOpen || before?.isHead !== isHead) {
      isOpen = true;
      all.push({ line, start, speaker: speaker ?? inherited(isHead, before), isHead, lines: [said] });
    } else before.lines.push(said);
  }
  return all.map(segmentOf).filter(({ text }) => text !== '');
}

const inherited = (isHead: boolean, before: Paragraph | undefined): string | undefined =>
  isHead ? undefined : before?.speaker;

const segmentOf = ({ line, start, speaker, lines }: Paragraph): Segment => ({
  line,
  start,
  speaker,
  text: lines.filter(Boolean).join('\n'),
});

/** The last line of what stands before the conversation: its title, source and length. 0: there is nothing. */
const headOf = (lines: readonly TextLine[]): number =>
  lines
    .filter(({ text }) => text.trim() !== '')
    .slice(0, MAX_HEAD_LINES)
    .findLast(({ text }) => isLabelled(text))?.line ?? 0;

interface Begun {
  readonly start?: number | undefined;
  readonly speaker?: string | undefined;
  readonly text: string;
}

const inBrackets = new RegExp(`^\\s*[[(](${CLOCK})[\\])]`);
const bare = new RegExp(`^\\s*(${CLOCK})(?=\\s|$)`);
const afterName = new RegExp(`^(.{1,60}?):?\\s{0,3}[[(](${CLOCK})[\\])]:?`);
const afterNameBare = new RegExp(`^(.{1,60}?)\\s{1,3}(${CLOCK})$`);

/** `[00:01:02] Ada: text`, `Ada (00:01:02): text`, `00:01:02 Ada: text`. */
function begun(line: string, isStamped: boolean): Begun {
  const stamp = inBrackets.exec(line) ?? (isStamped ? bare.exec(line) : null);
  if (stamp) {
    const start = clockMs(stamp[1] ?? '');
    const said = splitSpeaker(line.slice(stamp[0].length).replace(/^\s*[-–—]\s/, ''));
    // Without seconds and speaker it may be the time of day that somebody says.
    const isSure = /^\s*[[(]/.test(stamp[0]) || /:.*:/.test(stamp[0]) || said.speaker || said.text === '';
    return start !== undefined && isSure ? { start, ...said } : splitSpeaker(line);
  }
  const [all = '', name = '', clock = ''] =
    afterName.exec(line) ?? (isStamped ? afterNameBare.exec(line.trim()) : null) ?? [];
  const start = clockMs(clock);
  return start === undefined || !isName(name)
    ? splitSpeaker(line)
    : { start, speaker: name.trim(), text: line.trim().slice(all.length).trim() };
}
