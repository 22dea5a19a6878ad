/** Finds the page of help that words ask for, and the first screen of the program. */
import { usage } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import type { Group, Item } from '../spec/command.ts';
import {
  clampWidth,
  commandPage,
  commandsOf,
  findCommands,
  itemLines,
  type Page,
  pageText,
  wrap,
} from './help-page.ts';
import { topicNames, topicPage } from './help-topics.ts';
import { wrongSubcommand } from './wrong-line.ts';

export const about = 'Order transcripts from the command line: give it a URL, get a text file.';

const URL = 'https://example.com/talk.mp3';

/** The start of a topic's name stands for it from this length on: `env`. */
const MIN_TOPIC_START = 3;

/** The first lines of a new user: without an account, and with one. */
export const firstLines: ReadonlyArray<readonly [title: string, lines: readonly string[]]> = [
  [
    'To try it, without an account and without cost',
    [
      `steno --sandbox order ${URL} --sku TRANS14`,
      'steno --sandbox wait --download .',
      'steno --sandbox files',
    ],
  ],
  [
    'With an account',
    ['steno login', `steno order ${URL} --sku TRANS14`, 'steno sync --download transcripts'],
  ],
];

/** The page of a command, a topic or, without words, of the program itself; at most 80 columns wide. */
export function helpText(words: readonly string[], columns: number, groups: readonly Group[]): string {
  const width = clampWidth(columns);
  if (words.length === 0) return frontPage(width, groups);
  return pageText(findPage(words, groups), width);
}

function findPage(words: readonly string[], groups: readonly Group[]): Page {
  const path = findCommands(words, groups);
  if (path) return commandPage(path);
  const [first = '', ...more] = words;
  const topic = more.length === 0 ? topicPage(first === 'help' ? 'topics' : first) : undefined;
  if (topic) return topic;
  throw unknown(words, groups);
}

function unknown(words: readonly string[], groups: readonly Group[]): Error {
  const [word = ''] = words;
  const topics = topicNames();
  const parent = findCommands(words.slice(0, -1), groups)?.at(-1);
  if (parent) return wrongSubcommand(parent, words.at(-1));
  if (topics.includes(word)) return usage('help takes one topic at a time', `see: steno help ${word}`);
  const begun = word.length >= MIN_TOPIC_START ? topics.find((name) => name.startsWith(word)) : undefined;
  const names = commandsOf(groups).flatMap(({ name, alias }) => (alias ? [name, alias] : [name]));
  const see = 'see: steno help topics';
  const hint = begun ? `did you mean ${begun}? ${see}` : didYouMean(word, [...names, ...topics], see);
  return usage(`unknown command or topic '${word}'`, hint);
}

/** What most people need most, with a summary each; the other commands by name alone, so that it all fits one screen. */
const mainCommands = ['order', 'files', 'wait', 'transcript', 'sync', 'listen', 'report', 'doctor'];

function frontPage(width: number, groups: readonly Group[]): string {
  const main = commandsOf(groups).filter(({ name }) => mainCommands.includes(name));
  const all = groups.map(({ title, commands }): Item => [title, commands.map(({ name }) => name).join(', ')]);
  const lines = [
    ...wrap(about, width),
    '',
    ...firstLines.flatMap(([title, examples]) => [
      ...wrap(`${title}:`, width),
      ...examples.map((line) => `  ${line}`),
      '',
    ]),
    'Main commands (steno <command> --help explains one):',
    ...itemLines(
      main.map(({ name, summary }): Item => [name, summary]),
      width,
    ),
    '',
    'All commands:',
    ...itemLines(all, width),
    '',
    ...wrap('Summaries, and pages on money, CI, events and more: steno help topics', width),
  ];
  return `${lines.join('\n')}\n`;
}
