/** Man pages, from the same pages as `--help`: `steno-order.1` of a command, `steno-money.7` of a topic. */

import type { Command, Details, Group, Item } from '../spec/command.ts';
import { about, firstLines } from './help.ts';
import {
  commandPage,
  commandPaths,
  commandSections,
  commandsOf,
  findCommands,
  type Page,
  type Section,
} from './help-page.ts';
import { topicNames, topicPage } from './help-topics.ts';

export interface ManPage {
  /** `steno-order.1` */
  readonly file: string;
  readonly text: string;
}

/** Topics that only list what other pages have. */
const lists = ['commands', 'topics'];

const topics = topicNames.filter((name) => !lists.includes(name));

export function manPages(groups: readonly Group[]): ManPage[] {
  const pages = commandPaths(commandsOf(groups)).map((path) =>
    manPage(commandPage(findCommands(path, groups) ?? []), 1),
  );
  const topicPages = topics.flatMap((name) => topicPage(name, groups) ?? []).map((page) => manPage(page, 7));
  return [rootPage(groups), ...pages, ...topicPages];
}

export const manFiles = (groups: readonly Group[]): string[] => [
  'steno.1',
  ...commandPaths(commandsOf(groups)).map((path) => `${['steno', ...path].join('-')}.1`),
  ...topics.map((name) => `steno-${name}.7`),
];

function rootPage(groups: readonly Group[]): ManPage {
  const tries = firstLines.flatMap(([title, lines]) => [
    paragraph(`${title}:`),
    ...lines.map((line) => verbatim(line)),
  ]);
  const children = commandsOf(groups).map(({ name }) => `steno-${name}(1)`);
  return assemble('steno', 1, about, [
    ['SYNOPSIS', synopsis('steno <command> [options]')],
    ['DESCRIPTION', paragraph(about), ...tries],
    ...commandSections(groups).map((each): Part => [each.title, bodyText(each.body)]),
    ['SEE ALSO', seeAlso([...children, ...topics.map((name) => `steno-${name}(7)`)])],
  ]);
}

function manPage(page: Page, section: 1 | 7): ManPage {
  const name = section === 1 ? page.name.replaceAll(' ', '-') : `steno-${page.name}`;
  const parent = name.includes('-') && section === 1 ? name.replace(/-[^-]*$/, '') : 'steno';
  const children = page.lists.find(({ title }) => title === 'Commands')?.body.flat() ?? [];
  const related = [
    `${parent}(1)`,
    ...children.map(([child]) => `${name}-${child}(1)`),
    'steno-options(7)',
    'steno-exit-codes(7)',
  ];
  const own = `${name}(${section})`;
  return assemble(name, section, page.summary, [
    ['SYNOPSIS', ...page.usage.map(synopsis)],
    ['DESCRIPTION', ...page.about.map(paragraph)],
    ...page.lists.map(sectionPart),
    [
      'OPTIONS',
      ...(page.usage.length
        ? [items(page.options), paragraph('And the global options: steno-options(7).')]
        : []),
    ],
    ['EXAMPLES', ...page.examples.map(example)],
    ...page.sections.map(sectionPart),
    ['SEE ALSO', seeAlso(related.filter((each) => each !== own))],
  ]);
}

/** A heading and what stands below it; without anything below it, it is left out. */
type Part = readonly [title: string, ...body: readonly string[]];

function assemble(name: string, section: number, summary: string, parts: readonly Part[]): ManPage {
  const head = [
    `.TH ${roff(name.toUpperCase())} ${section} "" "steno ${STENO_VERSION}" "steno"`,
    // Neither hyphens within words nor wide gaps: a flag and a command line stay as they are typed.
    '.nh',
    '.ad l',
    '.SH NAME',
    `${roff(name)} \\- ${roff(summary)}`,
  ];
  const body = parts.flatMap(([title, ...texts]) => {
    const filled = texts.filter(Boolean);
    const [first = '', ...more] = filled;
    // A heading has its own space below it.
    return first ? [`.SH ${roff(title.toUpperCase())}`, first.replace(/^\.PP\n/, ''), ...more] : [];
  });
  return { file: `${name}.${section}`, text: `${[...head, ...body].join('\n')}\n` };
}

const sectionPart = ({ title, body }: Section): Part => [title, bodyText(body)];

function blockText(block: Details[number]): string {
  if (typeof block !== 'string') return items(block);
  return block.includes('\n') ? `.PP\n${verbatim(block)}` : paragraph(block);
}

const bodyText = (body: Details): string => body.map(blockText).filter(Boolean).join('\n');

const synopsis = (usage: string): string => `.PP\n.B ${roff(usage)}`;
const paragraph = (text: string): string => `.PP\n${line(text)}`;
const items = (list: readonly Item[]): string =>
  list.map(([term, what]) => `.TP\n.B ${roff(term)}\n${line(what)}`).join('\n');
const verbatim = (text: string): string => `.RS 4\n.nf\n${text.split('\n').map(line).join('\n')}\n.fi\n.RE`;
const example = ([command, what]: Command['examples'][number]): string =>
  `${paragraph(`${what.charAt(0).toUpperCase()}${what.slice(1)}:`)}\n${verbatim(command)}`;
const seeAlso = (names: readonly string[]): string => line([...new Set(names)].join(', '));

/** A line of its own: a dot at its beginning is no request. */
const line = (text: string): string => roff(text).replace(/^\./, '\\&.');

/** In roff a bare hyphen, quote, tilde or caret is printed as another character, which can't be pasted. */
const roff = (text: string): string =>
  text
    .replaceAll('\u00a0', ' ')
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
    .replaceAll('…', '...');
