/** The command tree as the shells need it, read from the command specs: a new command or flag appears by itself. */
import { type Command, flag, globalOptions, type Option, type Values } from '../cli/options.ts';
import { groups } from '../cli/program.ts';

export interface Flag {
  /** As typed, long before short: `--output`, `-o`. */
  readonly names: readonly string[];
  readonly help: string;
  readonly takesValue: boolean;
  /** What help calls its value. */
  readonly valueName: string;
  /** May be given more than once. */
  readonly many: boolean;
  /** Takes several values with commas. */
  readonly list: boolean;
  readonly values: Values;
}

export interface Positional {
  readonly name: string;
  readonly many: boolean;
  readonly values: Values;
}

export interface Node {
  /** The names from the root to here; none for the root. */
  readonly path: readonly string[];
  /** Its name and its alias. */
  readonly names: readonly string[];
  readonly summary: string;
  /** Its own flags; every command takes those of the root too. */
  readonly flags: readonly Flag[];
  readonly args: readonly Positional[];
  readonly children: readonly Node[];
}

/** What every command has and no spec says. */
const builtIn: readonly Option[] = [
  flag('-h, --help', 'explain this command'),
  flag('-V, --version', 'print the version'),
];

export function commandTree(): Node {
  const specs = groups.flatMap((group) => group.commands);
  return {
    path: [],
    names: ['steno'],
    summary: '',
    flags: [...Object.values<Option>(globalOptions), ...builtIn].map(flagOf),
    args: [],
    children: [...specs.map((spec) => nodeOf(spec, [])), helpCommand(specs)],
  };
}

/** A node and all below it. */
export function everyNode(node: Node): Node[] {
  return [node, ...node.children.flatMap(everyNode)];
}

export const pathOf = (node: Node): string => node.path.join(' ');

function nodeOf(spec: Command, parent: readonly string[]): Node {
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

function helpCommand(specs: readonly Command[]): Node {
  const values = specs.map((spec) => spec.name);
  const args = [{ name: 'command', many: false, values }];
  return { path: ['help'], names: ['help'], summary: 'Explain a command', flags: [], args, children: [] };
}

function flagOf(option: Option): Flag {
  const { flags, help, takesValue, values = [] } = option;
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
  };
}

const bare = (name: string): string => name.replace(/[<>[\]…]/g, '');
