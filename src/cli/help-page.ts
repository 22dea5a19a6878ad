/** A page of help: as data, of which the man page is made too, and laid out for a terminal. */

import { PAGE_WIDTH } from '../lib/defaults.ts';
import type { Command, Details, Group, Item } from '../spec/command.ts';
import type { Option } from '../spec/options.ts';
import type { RecordColumn } from '../views/record.ts';

export interface Section {
  readonly title: string;
  readonly body: Details;
}

export interface Page {
  /** `steno events show`, or the name of a topic. */
  readonly name: string;
  readonly summary: string;
  readonly usage: readonly string[];
  readonly about: readonly string[];
  /** Arguments and subcommands. */
  readonly lists: readonly Section[];
  readonly options: readonly Item[];
  readonly examples: Command['examples'];
  readonly sections: readonly Section[];
}

export const optionsPointer = 'the global options: steno help options';

export const commandsOf = (groups: readonly Group[]): readonly Command[] =>
  groups.flatMap(({ commands }) => commands);

/** The commands from the root to the one that the words name; undefined where a word names none. */
export function findCommands(
  words: readonly string[],
  groups: readonly Group[],
): readonly Command[] | undefined {
  const found: Command[] = [];
  let known = commandsOf(groups);
  for (const word of words) {
    const next = known.find((each) => each.name === word || each.alias === word);
    if (!next) return undefined;
    found.push(next);
    known = next.children ?? [];
  }
  return found;
}

/** The full names of all commands: `order`, `events`, `events show`. */
export const commandPaths = (specs: readonly Command[]): string[][] =>
  specs.flatMap((spec) => [
    [spec.name],
    ...commandPaths(spec.children ?? []).map((path) => [spec.name, ...path]),
  ]);

/** Those of the table, then those that `--columns` adds. */
function columnLines(columns: readonly RecordColumn[]): string[] {
  const named = (isMore: boolean): string =>
    columns
      .filter(({ more = false }) => more === isMore)
      .map(({ name }) => name)
      .join(', ');
  const more = named(true);
  return [named(false), more && `With --columns all, and in CSV, also: ${more}`].filter(Boolean);
}

export function commandPage(path: readonly Command[]): Page {
  const spec = path.at(-1);
  if (!spec) throw new Error('the root has a page of its own');
  const names = path.map((each) => each.name);
  const name = ['steno', ...names].join(' ');
  return {
    name,
    summary: spec.summary,
    usage: usageOf(spec, name),
    about: [spec.about ?? `${spec.summary}.`],
    lists: [
      { title: 'Arguments', body: [(spec.args ?? []).map(argumentItem)] },
      { title: 'Commands', body: [(spec.children ?? []).map((child) => [child.name, child.summary])] },
    ],
    options: Object.values(spec.options ?? {}).map(optionItem),
    examples: spec.examples,
    sections: [
      { title: 'Details', body: spec.details ?? [] },
      { title: 'Columns', body: columnLines(spec.output?.().columns ?? []) },
    ],
  };
}

function usageOf(spec: Command, name: string): string[] {
  const args = (spec.args ?? []).map((each) => each.name);
  const command = spec.children ? [spec.run ? '[command]' : '<command>'] : [];
  const names = spec.alias ? [name, name.replace(/\S+$/, spec.alias)] : [name];
  const lines = (words: readonly string[]): string[] =>
    names.map((each) => [each, ...words, '[options]'].join(' '));
  return command.length && args.length ? [...lines(args), `${name} <command>`] : lines([...command, ...args]);
}

const argumentItem = ({ name, help, values }: NonNullable<Command['args']>[number]): Item => [
  name,
  // A long list has a page or a section of its own.
  help + (values && values.length <= MAX_VALUES ? valuesNote(help, name, values) : ''),
];

const MAX_VALUES = 10;

/** A flag with its meaning, the values that it takes, and its default. */
export function optionItem({ flags, help, values, shownDefault, env }: Option): Item {
  const notes = [shownDefault && `default: ${shownDefault}`, env && `env: ${env}`].filter(Boolean);
  const note = notes.length ? ` (${notes.join(', ')})` : '';
  return [flags, help + valuesNote(help, flags, values) + note];
}

/** What can be given, unless the text says it already. */
function valuesNote(help: string, term: string, values: Option['values']): string {
  if (!Array.isArray(values)) return '';
  const isSaid = values.every((each: string) => `${help} ${term}`.includes(each));
  return isSaid || values.length === 0
    ? ''
    : `: ${values.map((each: string) => each.replaceAll(' ', '\u00a0')).join(', ')}`;
}

const MIN_WIDTH = 40;

/** Those that stand above the options. */
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
  if (!block.includes('\n')) return wrap(block, width, '  ');
  return block
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`.trimEnd());
}

const titled = (title: string, lines: readonly string[]): string[] =>
  lines.length ? [`${title}:`, ...lines, ''] : [];

function sectionLines({ title, body }: Section, width: number): string[] {
  const blocks = body.map((block) => blockLines(block, width)).filter((lines) => lines.length > 0);
  return titled(
    title,
    blocks.flatMap((lines, at) => (at === 0 ? lines : ['', ...lines])),
  );
}

/** Lays out a page of help for a terminal: what most readers look for is on the first screen. */
export function pageText({ usage, about, lists, options, examples, sections }: Page, width: number): string {
  const globals = `${options.length ? 'and ' : ''}${optionsPointer}`;
  const lines = [
    ...usageLines(usage, width),
    ...(usage.length ? [''] : []),
    ...about.flatMap((each) => wrap(each, width)),
    '',
    ...titled('Examples', exampleLines(examples.slice(0, TOP_EXAMPLES), width)),
    ...lists.flatMap((each) => sectionLines(each, width)),
    ...(usage.length ? titled('Options', [...itemLines(options, width), ...wrap(globals, width, '  ')]) : []),
    ...titled('More examples', exampleLines(examples.slice(TOP_EXAMPLES), width)),
    ...sections.flatMap((each) => sectionLines(each, width)),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

function usageLines(usage: readonly string[], width: number): string[] {
  const lead = 'Usage: ';
  const lines = usage.flatMap((line) => wrap(line, width, ' '.repeat(lead.length)));
  return lines.map((line, at) => (at === 0 ? lead + line.trimStart() : line));
}
