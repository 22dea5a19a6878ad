/** A page of help as data: the text for a terminal and the man page are both made from it. */

import type { Command, Details, Group, Item } from '../spec/command.ts';
import type { Option } from '../spec/options.ts';

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

export const section = (title: string, ...body: Details): Section => ({ title, body });

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

export function commandPage(path: readonly Command[], also?: Page): Page {
  const spec = path.at(-1);
  if (!spec) throw new Error('the root has a page of its own');
  const names = path.map((each) => each.name);
  const name = ['steno', ...names].join(' ');
  const columns = (spec.output?.columns ?? []).map((column) => column.name);
  return {
    name,
    summary: spec.summary,
    usage: usageOf(spec, name),
    about: [spec.about ?? `${spec.summary}.`, ...(also ? [`Also on this page: ${also.summary}.`] : [])],
    lists: [
      { title: 'Arguments', body: [(spec.args ?? []).map(argumentItem)] },
      { title: 'Commands', body: [(spec.children ?? []).map((child) => [child.name, child.summary])] },
    ],
    options: Object.values(spec.options ?? {}).map(optionItem),
    examples: spec.examples,
    sections: [
      { title: 'Details', body: spec.details ?? [] },
      { title: 'Columns off a terminal', body: columns.length ? [columns.join(', ')] : [] },
      ...(also?.sections ?? []),
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

/** Every command with its summary, by group. */
export const commandSections = (groups: readonly Group[]): Section[] =>
  groups.map(({ title, commands }) => ({
    title,
    body: [commands.map(({ name, alias, summary }) => [alias ? `${name}, ${alias}` : name, summary])],
  }));
