/** Lays out a page of help for a terminal. */

import { PAGE_WIDTH } from '../lib/defaults.ts';
import type { Command, Details, Item } from '../spec/command.ts';
import { optionsPointer, type Page, type Section } from './help-page.ts';

const MIN_WIDTH = 40;

/** The first screen holds usage, purpose, main options and two examples. */
export const SCREEN_ROWS = 24;
const TOP_EXAMPLES = 2;

/** A term that is wider has its meaning below it. */
const MAX_TERM_SHARE = 0.36;

export const clampWidth = (columns: number): number => Math.min(PAGE_WIDTH, Math.max(MIN_WIDTH, columns));

/** Lines of text, at most `width` wide where words allow it. A flag stays with its value, a command with its name. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const glued = text
    .replace(/(--?[a-z][a-z-]*) (?=<)/g, '$1\u00a0')
    .replace(/\bsteno (?=[a-z])/g, 'steno\u00a0')
    .replace(/\bexit (?=\d)/g, 'exit\u00a0')
    .replace(/\b(default|env|see): (?=\S)/g, '$1:\u00a0');
  const lines: string[] = [];
  let line = '';
  const fits = (word: string): boolean => indent.length + word.length <= width;
  const words = glued.split(/ +/).flatMap((word) => (fits(word) ? [word] : word.split('\u00a0')));
  for (const word of words) {
    const longer = line ? `${line} ${word}` : word;
    if (line && indent.length + longer.length > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].map((each) => (indent + each).replaceAll('\u00a0', ' '));
}

export function itemLines(items: readonly Item[], width: number): string[] {
  const widest = Math.floor(width * MAX_TERM_SHARE);
  const column = Math.max(0, ...items.map(([term]) => term.length).filter((length) => length <= widest));
  return items.flatMap(([term, what]) => {
    const indent = ' '.repeat(2 + (column || widest) + 2);
    const lines = wrap(what, width, indent);
    // A path that the column has no room for stands below its term.
    if (lines.some((line) => line.length > width)) return [`  ${term}`, ...wrap(what, width, '    ')];
    if (term.length > column) return [`  ${term}`, ...lines];
    return [`  ${term.padEnd(column)}  ${lines[0]?.trimStart() ?? ''}`, ...lines.slice(1)];
  });
}

/** A command line is never broken, so that it can be pasted. */
function exampleLines(examples: Command['examples'], width: number): string[] {
  const widest = Math.max(0, ...examples.map(([line]) => line.length));
  const beside = examples.every(([, what]) => widest + what.length + 6 <= width);
  return examples.flatMap(([line, what]) =>
    beside ? [`  ${line.padEnd(widest)}  # ${what}`] : [...wrap(`# ${what}`, width, '  '), `  ${line}`],
  );
}

/** Text of several lines is a file or a script: it stays as it is, so that it can be pasted. */
function blockLines(block: Details[number], width: number): string[] {
  if (typeof block !== 'string') return itemLines(block, width);
  return block.includes('\n')
    ? block.split('\n').map((line) => `  ${line}`.trimEnd())
    : wrap(block, width, '  ');
}

function bodyLines(body: Details, width: number): string[] {
  const blocks = body.map((block) => blockLines(block, width)).filter((lines) => lines.length > 0);
  return blocks.flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}

const titled = (title: string, lines: readonly string[]): string[] =>
  lines.length ? [`${title}:`, ...lines, ''] : [];

const sectionLines = ({ title, body }: Section, width: number): string[] =>
  titled(title, bodyLines(body, width));

export function pageText(page: Page, width: number): string {
  const topExamples = titled('Examples', exampleLines(page.examples.slice(0, TOP_EXAMPLES), width));
  const head = [
    ...usageLines(page.usage, width),
    ...(page.usage.length ? [''] : []),
    ...page.about.flatMap((each) => wrap(each, width)),
    '',
    ...page.lists.flatMap((each) => sectionLines(each, width)),
  ];
  // The heading and the empty line after the options.
  const room = SCREEN_ROWS - head.length - topExamples.length - 2;
  const [main, more] = splitOptions(page.options, width, room);
  const pointer = wrap(`and ${optionsPointer}`, width, '  ');
  const alone = page.usage.length > 0 && page.options.length === 0;
  const lines = [
    ...head,
    ...titled('Options', main.length && !more.length ? [...main, ...pointer] : main),
    ...(alone ? [...wrap(`And ${optionsPointer}`, width), ''] : []),
    ...topExamples,
    ...titled('More options', more.length ? [...more, ...pointer] : []),
    ...titled('More examples', exampleLines(page.examples.slice(TOP_EXAMPLES), width)),
    ...page.sections.flatMap((each) => sectionLines(each, width)),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

function usageLines(usage: readonly string[], width: number): string[] {
  const lead = 'Usage: ';
  const lines = usage.flatMap((line) => wrap(line, width, ' '.repeat(lead.length)));
  return lines.map((line, at) => (at === 0 ? lead + line.trimStart() : line));
}

/** As many options as the first screen has room for, in their order, and the others. */
function splitOptions(
  options: readonly Item[],
  width: number,
  room: number,
): readonly [main: readonly string[], more: readonly string[]] {
  let count = options.length;
  // Where all fit, the line that points to the global options stands with them.
  const pointerRows = (): number => (count === options.length ? 1 : 0);
  while (count > 0 && itemLines(options.slice(0, count), width).length + pointerRows() > room) count -= 1;
  return [itemLines(options.slice(0, count), width), itemLines(options.slice(count), width)];
}
