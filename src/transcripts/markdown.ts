/** Transcripts in Markdown: as `convert` writes them, with headings and times of its own, or as prose. */
import { CLOCK, clockMs } from './cues.ts';
import type { Segment } from './model.ts';
import type { TextLine } from './page.ts';
import { splitSpeaker } from './speakers.ts';

const stamp = new RegExp(`^(?:\\*(${CLOCK})\\*|\\[(${CLOCK})\\]\\([^()\\s]*\\))\\s*`);

/** Undefined where no line is a heading of a speaker, or begins with a time of `convert`. */
export function markdownSegments(text: string): Segment[] | undefined {
  const segments: Segment[] = [];
  const lines = text.split('\n');
  if (!lines.some((line) => line.startsWith('## ') || stamp.test(line))) return undefined;
  let heading: string | undefined;
  let paragraph: string[] = [];
  const end = (line: number): void => {
    const [all = '', ...clocks] = stamp.exec(paragraph[0] ?? '') ?? [];
    const start = clockMs(clocks.find(Boolean) ?? '');
    const lines = [(paragraph[0] ?? '').slice(all.length), ...paragraph.slice(1)].map(plain);
    const said = heading === undefined ? splitSpeaker(lines[0] ?? '') : { text: lines[0] ?? '' };
    const whole = [said.text, ...lines.slice(1)].filter(Boolean).join('\n');
    if (whole)
      segments.push({ line: line - paragraph.length, start, speaker: heading, ...said, text: whole });
    paragraph = [];
  };
  for (const [at, line] of lines.entries()) {
    const [, level, title = ''] = /^(#{1,6})\s+(.*)$/.exec(line) ?? [];
    if (line.trim() && !level) paragraph.push(line);
    else end(at + 1);
    if (level === '##') heading = plain(title);
    else if (level) segments.push({ line: at + 1, text: plain(title), isHead: true });
  }
  end(lines.length + 1);
  return segments;
}

export const markdownLines = (text: string): TextLine[] =>
  text.split('\n').map((line, at) => ({
    ...{ line: at + 1, text: plain(line.replace(/^#{1,6}\s+/, '')), isHeading: /^#{1,6}\s/.test(line) },
  }));

/** Without bold, and without the backslashes before signs. */
const plain = (text: string): string => text.replace(/\\([!-/:-@[-`{-~])|\*\*/g, '$1').trim();
