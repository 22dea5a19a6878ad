/** The command tree for the completion scripts, read from the specs: a new command or flag appears by itself. */
import type { CommandNode, Flag } from '../completion/model.ts';
import type { Command } from './command-spec.ts';
import { globalOptions } from './global-options.ts';
import { builtInOptions, topicNames } from './help-topics.ts';
import type { Option } from './options.ts';

export function commandTree(specs: readonly Command[]): CommandNode {
  return {
    path: [],
    names: ['steno'],
    summary: '',
    flags: [...Object.values<Option>(globalOptions), ...builtInOptions].map(flagOf),
    args: [],
    children: [...specs.map((spec) => nodeOf(spec, [])), helpCommand(specs)],
  };
}

function nodeOf(spec: Command, parent: readonly string[]): CommandNode {
  const path = [...parent, spec.name];
  return {
    path,
    names: spec.alias ? [spec.name, spec.alias] : [spec.name],
    summary: spec.summary,
    flags: Object.values(spec.options ?? {}).map(flagOf),
    args: (spec.args ?? []).map(({ name, values = [] }) => ({
      name: bare(name),
      many: name.includes('…'),
      values,
    })),
    children: (spec.children ?? []).map((child) => nodeOf(child, path)),
  };
}

function helpCommand(specs: readonly Command[]): CommandNode {
  const values = [...new Set([...specs.map((spec) => spec.name), ...topicNames])];
  const args = [{ name: 'command', many: false, values }];
  return {
    path: ['help'],
    names: ['help'],
    summary: 'Explain a command or a topic',
    flags: [],
    args,
    children: [],
  };
}

function flagOf(option: Option): Flag {
  const { flags, help, takesValue, values = [], onlyOneOf = [] } = option;
  const names = flags.match(/(?<![^\s,])--?[a-z][a-z-]*/gi) ?? [];
  const many = Array.isArray(option.initial);
  return {
    names: [...names].sort((a, b) => b.length - a.length),
    help,
    takesValue,
    valueName: bare(/<.*>/.exec(flags)?.[0] ?? ''),
    many,
    list: many && flags.includes('…'),
    values,
    onlyOneOf,
  };
}

const bare = (name: string): string => name.replace(/[<>[\]…]/g, '');
