/** The command tree for the completion scripts, read from the specs: a new command or flag appears by itself. */
import { type CommandNode, type Flag, noMeaning, type Positional } from '../completion/model.ts';
import type { Argument, Command, Group } from '../spec/command.ts';
import { globalOptions } from '../spec/global-options.ts';
import { bareName, flagNames, type Option, valueName } from '../spec/options.ts';
import { builtInOptions, summaryOfTopic, topicNames } from './help-topics.ts';

export function commandTree(groups: readonly Group[]): CommandNode {
  const specs = groups.flatMap(({ commands }) => commands);
  return {
    path: [],
    names: ['steno'],
    summary: '',
    flags: [...Object.values<Option>(globalOptions), ...builtInOptions].map(flagOf),
    args: [],
    children: [...specs.map((spec) => withCommands(nodeOf(spec, []), specs)), helpCommand(specs)],
  };
}

function nodeOf(spec: Command, parent: readonly string[]): CommandNode {
  const path = [...parent, spec.name];
  return {
    path,
    names: spec.alias ? [spec.name, spec.alias] : [spec.name],
    summary: spec.summary,
    flags: Object.values(spec.options ?? {}).map(flagOf),
    args: (spec.args ?? []).map(argumentOf),
    children: (spec.children ?? []).map((child) => nodeOf(child, path)),
  };
}

function argumentOf({ name, values = [], meaning = noMeaning, valuesAfter = {} }: Argument): Positional {
  return { name: bareName(name), many: name.includes('…'), values, meaning, valuesAfter };
}

/** `schema` names other commands, which its own spec can't know. */
function withCommands(node: CommandNode, specs: readonly Command[]): CommandNode {
  if (node.path[0] !== 'schema') return node;
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
    path: ['help'],
    names: ['help'],
    summary: 'Explain a command or a topic',
    flags: [],
    args: commandWords(specs, topicNames, summaryOfTopic).map(argumentOf),
    children: [],
  };
}

function flagOf(option: Option): Flag {
  const { flags, help, takesValue, values = [], meaning = noMeaning, onlyOneOf = [] } = option;
  const names = flagNames(option);
  const many = Array.isArray(option.initial);
  return {
    names: [...names].sort((a, b) => b.length - a.length),
    help,
    takesValue,
    valueName: valueName(option),
    many,
    list: many && flags.includes('…'),
    values,
    meaning,
    onlyOneOf,
  };
}
