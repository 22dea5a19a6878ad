/** The command tree for completion, read from the specs: a new command or flag appears by itself. */
import type { CommandNode, Flag, Meaning, Offers, Positional, Values } from '../completion/model.ts';
import { ALL_COLUMNS } from '../lib/view.ts';
import type { Argument, Command, Group } from '../spec/command.ts';
import { globalOptions } from '../spec/global-options.ts';
import { flagNames, type Option } from '../spec/options.ts';
import { builtInOptions, summaryOfTopic, topicNames } from './help-topics.ts';

export function commandTree(groups: readonly Group[]): CommandNode {
  const specs = groups.flatMap(({ commands }) => commands);
  return {
    names: ['steno'],
    summary: '',
    flags: [...Object.values<Option>(globalOptions), ...builtInOptions].map(flagOf),
    args: [],
    children: [...specs.map((spec) => withCommands(nodeOf(spec), specs)), helpCommand(specs)],
  };
}

function nodeOf(spec: Command): CommandNode {
  return {
    names: spec.alias ? [spec.name, spec.alias] : [spec.name],
    summary: spec.summary,
    flags: [...Object.values(spec.options ?? {}), ...columnsOption(spec)].map(flagOf),
    args: (spec.args ?? []).map(argumentOf),
    children: (spec.children ?? []).map(nodeOf),
  };
}

/** The global option with the columns of this command. */
function columnsOption({ output }: Command): Option[] {
  const columns = output?.().choosable ?? [];
  const values = [...columns.map(({ name }) => name), ALL_COLUMNS];
  const meaning: Meaning = (value) => columns.find(({ name }) => name === value)?.help ?? '';
  return columns.length ? [{ ...globalOptions.columns, values, meaning }] : [];
}

function argumentOf({ name, values, meaning, valuesAfter = {} }: Argument): Positional {
  const after = Object.entries(valuesAfter).map(([word, follow]) => [word, offersOf(follow)]);
  return {
    many: name.includes('…'),
    offers: offersOf(values, meaning),
    offersAfter: Object.fromEntries(after),
  };
}

const offersOf = (values: Values = [], meaning: Meaning = () => ''): Offers =>
  typeof values === 'string' ? values : values.map((value) => [value, meaning(value)]);

/** `schema` names other commands, which its own spec can't know. */
function withCommands(node: CommandNode, specs: readonly Command[]): CommandNode {
  if (node.names[0] !== 'schema') return node;
  const about = (word: string): string => `what stderr has with --json: ${word}`;
  return { ...node, args: commandWords(specs, ['error', 'warning'], about).map(argumentOf) };
}

/** A command, or a word that stands for something else; then a subcommand. */
function commandWords(
  specs: readonly Command[],
  words: readonly string[],
  meaning: (word: string) => string,
): Argument[] {
  const parents = specs.filter(({ children = [] }) => children.length);
  return [
    {
      name: '[command]',
      help: '',
      values: [...new Set([...specs.map((spec) => spec.name), ...words])],
      meaning: (name) => specs.find((spec) => spec.name === name)?.summary ?? meaning(name),
    },
    {
      name: '[subcommand]',
      help: '',
      valuesAfter: Object.fromEntries(
        parents.map(({ name, children = [] }) => [name, children.map((child) => child.name)]),
      ),
    },
  ];
}

function helpCommand(specs: readonly Command[]): CommandNode {
  return {
    names: ['help'],
    summary: 'Explain a command or a topic',
    flags: [],
    args: commandWords(specs, topicNames(), summaryOfTopic).map(argumentOf),
    children: [],
  };
}

function flagOf(option: Option): Flag {
  const { flags, help, takesValue, values, meaning, onlyOneOf = [] } = option;
  const names = flagNames(option);
  const many = Array.isArray(option.initial);
  return {
    names: [...names].sort((a, b) => b.length - a.length),
    help,
    takesValue,
    many,
    list: many && flags.includes('…'),
    offers: offersOf(values, meaning),
    onlyOneOf,
  };
}
