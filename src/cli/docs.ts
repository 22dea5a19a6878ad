/** Documents made from the program: parts of help topics, the texts in dist, and man pages. */

import { PassThrough } from 'node:stream';
import { PAGE_WIDTH } from '../lib/defaults.ts';
import { type Effect, effectMeanings, effects } from '../lib/effects.ts';
import type { View } from '../lib/view.ts';
import { environment } from '../settings/environment.ts';
import { settingList } from '../settings/settings.ts';
import type { Details, Group, Item } from '../spec/command.ts';
import { runnables } from '../spec/command-index.ts';
import { globalOptions } from '../spec/global-options.ts';
import { initialValues, longName, type Option } from '../spec/options.ts';
import { Output } from '../ui/output.ts';
import { formatTable, skuTable, stateTable } from '../views/catalog.ts';
import { about, firstLines, helpText } from './help.ts';
import {
  commandPage,
  commandPaths,
  commandsOf,
  findCommands,
  optionItem,
  type Page,
  type Section,
} from './help-page.ts';
import { builtInOptions, summaryOfTopic, topicMarkdown, topicNames, topicPage } from './help-topics.ts';

/** Parts of help topics, each between its two markers. */
const sections: Readonly<Record<string, (groups: readonly Group[]) => string>> = {
  commands: (groups) =>
    commandSections(groups)
      .map(({ title, body: [items] }) => `## ${title}\n\n${list(items)}\n`)
      .join(''),
  options: () => list([...Object.values<Option>(globalOptions), ...builtInOptions].map(optionItem)),
  variables: () => list(variables()),
  settings: () => list(settingList.map(({ name, help }): Item => [name, help])),
  effects: (groups) => list(effects.map((effect) => effectItem(effect, groups))),
  topics: () => list(topicNames().map((name): Item => [name, summaryOfTopic(name)])),
};

/** The text with every marked part made anew; a marker that names no part is an error. */
export function fillSections(text: string, groups: readonly Group[]): string {
  return text.replace(
    /(<!-- generated: (\S+) -->\n).*?(<!-- end: \2 -->)/gs,
    (_, begin: string, name: string, end: string) => {
      const render = sections[name];
      if (!render) throw new Error(`no generated section is named '${name}'`);
      return `${begin}${render(groups)}${end}`;
    },
  );
}

/** Every command with its summary, by group. */
function commandSections(groups: readonly Group[]): Array<Section & { readonly body: [Item[]] }> {
  const all = runnables(groups);
  const itemsOf = (title: string): Item[] =>
    all.filter(({ group }) => group === title).map(({ path, spec }) => [path, spec.summary]);
  return groups.map(({ title }) => ({ title, body: [itemsOf(title)] }));
}

/** Names and placeholders are code, which Markdown leaves as it is. */
const list = (items: readonly Item[]): string =>
  items.map(([term, what]) => `- ${code(term)}: ${marked(what)}\n`).join('');

const marked = (text: string): string =>
  text.replaceAll('\u00a0', ' ').replace(/<[^>]+>|\b[a-z]+_[a-z_]+\b|\*+/g, code);

function variables(): Item[] {
  // A variable that does more than its flag has its own text.
  const explained = new Set(environment.map(([names]) => names));
  const asFlag = Object.values<Option>(globalOptions).flatMap(({ env, help }): Item[] =>
    env && !explained.has(env) ? [[env, help]] : [],
  );
  const known = asFlag.map(([name]) => name);
  const asSetting = settingList.flatMap(({ env, help }): Item[] =>
    env && !known.includes(env) ? [[env, help]] : [],
  );
  return [...asFlag, ...asSetting, ...environment];
}

/** The commands with this effect, and the flags that add it to another command. */
function effectItem(effect: Effect, groups: readonly Group[]): Item {
  const all = runnables(groups);
  const commands = all.filter(({ spec }) => (spec.effect ?? 'read') === effect).map(({ path }) => path);
  const flags = all.flatMap(({ spec }) =>
    Object.values(spec.options ?? {}).flatMap((each) => (each.effect === effect ? longName(each) : [])),
  );
  const added = flags.length ? [`flags ${[...new Set(flags)].join(', ')}`] : [];
  return [effect, `${effectMeanings[effect]}: ${[commands.join(', '), ...added].filter(Boolean).join('; ')}`];
}

const code = (text: string): string => `\`${text}\``;

// The texts that the build writes into dist, so that start/launch.ts can print them without loading the program.

/** The help page of every command by its full name, as `--help` prints it. */
export function helpPages(groups: readonly Group[]): Array<[name: string, text: string]> {
  const paths = [[], ...commandPaths(commandsOf(groups))];
  return paths.map((path) => [['steno', ...path].join(' '), helpText(path, PAGE_WIDTH, groups)]);
}

/** What the commands of the catalogue print where there is no terminal, by command and form. */
export async function catalogueTexts(): Promise<Array<[name: string, text: string]>> {
  const views = { skus: skuTable.view(), states: stateTable.view(), formats: formatTable.view() };
  const texts: Array<[string, string]> = [];
  for (const [name, view] of Object.entries(views)) {
    for (const form of ['tabs', 'json', 'csv', 'quiet'])
      texts.push([`${name} --${form}`, await textOf(view, form)]);
  }
  return texts;
}

async function textOf(view: View, form: string): Promise<string> {
  const sink = new PassThrough();
  const stream = sink as unknown as NodeJS.WriteStream;
  const mode = { ...initialValues(globalOptions), [form]: true, noColor: true, pager: false };
  await new Output({ stdout: stream, stderr: stream }, { mode, env: {}, hide: String }).show(view);
  return String(sink.read());
}

// The page for agents, in the form that they load.

const SKILL =
  'Orders, follows, searches and downloads transcripts of audio with the command line program steno. ' +
  'Use it when a task needs a transcript or captions of a recording, or asks what transcripts cost.';

/** The topic `agents` with the front matter of a skill. */
export const skillText = (): string =>
  topicMarkdown('agents').replace(/^# .*\n/, `---\nname: steno\ndescription: ${SKILL}\n---\n\n# steno\n`);

// Man pages, from the same pages as `--help`: `steno-order.1` of a command, `steno-money.7` of a topic.

export interface ManPage {
  /** `steno-order.1` */
  readonly file: string;
  readonly text: string;
}

/** Without the one that only lists the others. */
const manTopics = (): string[] => topicNames().filter((name) => name !== 'topics');

export const manPages = (groups: readonly Group[]): ManPage[] => [
  rootPage(groups),
  ...commandPaths(commandsOf(groups)).map((path) =>
    manPage(commandPage(findCommands(path, groups) ?? []), 1),
  ),
  ...manTopics()
    .flatMap((name) => topicPage(name) ?? [])
    .map((page) => manPage(page, 7)),
];

function rootPage(groups: readonly Group[]): ManPage {
  const tries = firstLines.flatMap(([title, lines]) => [`${title}:`, `${lines.join('\n')}\n`]);
  const topics = manTopics().map((name) => `steno-${name}(7)`);
  return assemble('steno', 1, about, [
    { title: 'Synopsis', body: ['steno <command> [options]'] },
    { title: 'Description', body: [about, ...tries] },
    ...commandSections(groups),
    seeAlso([...commandsOf(groups).map(({ name }) => `steno-${name}(1)`), ...topics]),
  ]);
}

function manPage(page: Page, section: 1 | 7): ManPage {
  const name = section === 1 ? page.name.replaceAll(' ', '-') : `steno-${page.name}`;
  const parent = section === 1 ? name.replace(/-[^-]*$/, '') : 'steno';
  const children = page.lists.find(({ title }) => title === 'Commands')?.body.flat() ?? [];
  const related = [
    `${parent}(1)`,
    ...children.map(([child]) => `${name}-${child}(1)`),
    ...['steno-options(7)', 'steno-exit-codes(7)'],
  ];
  const globals = page.usage.length ? ['And the global options: steno-options(7).'] : [];
  return assemble(name, section, page.summary, [
    { title: 'Synopsis', body: page.usage },
    { title: 'Description', body: page.about },
    ...page.lists,
    { title: 'Options', body: [page.options, ...globals] },
    { title: 'Examples', body: page.examples.flatMap(([line, what]) => [`${what}:`, `${line}\n`]) },
    ...page.sections,
    seeAlso(related.filter((each) => each !== `${name}(${section})`)),
  ]);
}

const seeAlso = (names: readonly string[]): Section => ({
  title: 'See also',
  body: [[...new Set(names)].join(', ')],
});

/** A section without anything in it is left out. */
function assemble(name: string, section: number, summary: string, sections: readonly Section[]): ManPage {
  const head = [
    `.TH ${roff(name.toUpperCase())} ${section} "" "steno ${STENO_VERSION}" "steno"`,
    // Neither hyphens within words nor wide gaps: a flag and a command line stay as they are typed.
    '.nh',
    '.ad l',
    '.SH NAME',
    `${roff(name)} \\- ${roff(summary)}`,
  ];
  const body = sections.flatMap(({ title, body }) => {
    const blocks = body.map(blockText).filter(Boolean);
    // A heading has its own space below it.
    return blocks.length
      ? [`.SH ${roff(title.toUpperCase())}`, blocks.join('\n').replace(/^\.PP\n/, '')]
      : [];
  });
  return { file: `${name}.${section}`, text: `${[...head, ...body].join('\n')}\n` };
}

/** A paragraph, lines to copy, or a list of terms. */
function blockText(block: Details[number]): string {
  if (typeof block !== 'string')
    return block.map(([term, what]) => `.TP\n.B ${roff(term)}\n${line(what)}`).join('\n');
  const lines = block.trimEnd().split('\n').map(line).join('\n');
  return block.includes('\n') ? `.PP\n.RS 4\n.nf\n${lines}\n.fi\n.RE` : `.PP\n${lines}`;
}

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
