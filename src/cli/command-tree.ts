/** The command tree for completion, read from the specs: a new command or flag appears by itself. */
import type { CommandNode, Flag, Meaning, Offer, Offers, Values } from '../completion/model.ts';
import { ALL_COLUMNS } from '../lib/view.ts';
import type { Argument, Command, Group } from '../spec/command.ts';
import { globalOptions } from '../spec/global-options.ts';
import { flagNames, type Option } from '../spec/options.ts';
import { builtInOptions, summaryOfTopic, topicNames } from './help-topics.ts';

export function commandTree(groups: readonly Group[]): CommandNode {
  const specs = groups.flatMap(({ commands }) => commands);
  const topics = topicNames().map((name): Offer => [name, summaryOfTopic(name)]);
  const messages = ['error', 'warning'].map((name): Offer => [name, 'what stderr has with --json']);
  const nodes = specs.map(nodeOf);
  return {
    names: ['steno'],
    summary: '',
    flags: [...Object.values<Option>(globalOptions), ...builtInOptions].map(flagOf),
    args: [],
    children: [
      // `schema` and `help` name other commands, which no spec can know.
      ...nodes.map((node) => (node.names[0] === 'schema' ? naming(node, nodes, messages) : node)),
      naming(leaf(['help'], 'Explain a command or a topic'), nodes, topics),
    ],
  };
}

const leaf = (names: readonly string[], summary: string): CommandNode => {
  return { names, summary, flags: [], args: [], children: [] };
};

/** A node behind which a command may be named, or one of these words. */
function naming(node: CommandNode, named: readonly CommandNode[], words: readonly Offer[]): CommandNode {
  const bare = ({ names, summary, children }: CommandNode): CommandNode => ({
    ...leaf(names.slice(0, 1), summary),
    flags: node.flags,
    children: children.map(bare),
  });
  return { ...node, args: [{ many: false, offers: words }], children: named.map(bare) };
}

function nodeOf(spec: Command): CommandNode {
  const flags = [...Object.values(spec.options ?? {}), ...columnsOption(spec)].map(flagOf);
  const children = [...(spec.children ?? []).map(nodeOf), ...(spec.args ?? []).flatMap(wordsOf)];
  return {
    names: spec.alias ? [spec.name, spec.alias] : [spec.name],
    summary: spec.summary,
    flags,
    args: (spec.args ?? []).map(({ name, values, meaning }) => ({
      many: name.includes('…'),
      offers: offersOf(values, meaning),
    })),
    children,
  };
}

/** Words after which other values fit. */
const wordsOf = ({ valuesAfter = {}, meaning }: Argument): CommandNode[] =>
  Object.entries(valuesAfter).map(([word, values]) => ({
    ...leaf([word], meaning?.(word) ?? ''),
    args: [{ many: false, offers: offersOf(values) }],
  }));

/** The global option with the columns of this command. */
function columnsOption({ output }: Command): Option[] {
  const columns = output?.().choosable ?? [];
  const values = [...columns.map(({ name }) => name), ALL_COLUMNS];
  const meaning: Meaning = (value) => columns.find(({ name }) => name === value)?.help ?? '';
  return columns.length ? [{ ...globalOptions.columns, values, meaning }] : [];
}

const offersOf = (values: Values = [], meaning: Meaning = () => ''): Offers =>
  typeof values === 'string' ? values : values.map((value) => [value, meaning(value)]);

function flagOf(option: Option): Flag {
  const { flags, help, takesValue, values, meaning, onlyOneOf = [] } = option;
  const many = Array.isArray(option.initial);
  return {
    names: [...flagNames(option)].sort((a, b) => b.length - a.length),
    help,
    takesValue,
    many,
    list: many && flags.includes('…'),
    offers: offersOf(values, meaning),
    onlyOneOf,
  };
}
