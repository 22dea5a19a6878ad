/** The whole interface for programs, read from the specs. */
import type { CommandEntry, OptionEntry } from '../lib/command-entry.ts';
import type { Argument, Command } from '../spec/command.ts';
import { bareName, flagNames, type Option, valueName } from '../spec/options.ts';
import { effectOf, exitsOf, isSafeToRepeat } from './command-effects.ts';
import { groups } from './command-list.ts';

/** Every command that can be run, in the order of the help. */
export const commandEntries = (): CommandEntry[] =>
  groups.flatMap(({ title, commands }) => commands.flatMap((spec) => entriesOf(spec, [], title)));

function entriesOf(spec: Command, above: readonly string[], group: string): CommandEntry[] {
  const path = [...above, spec.name];
  const below = (spec.children ?? []).flatMap((child) => entriesOf(child, path, group));
  return spec.load ? [entryOf(spec, path.join(' '), group), ...below] : below;
}

const entryOf = (spec: Command, command: string, group: string): CommandEntry => ({
  command,
  alias: spec.alias ?? '',
  group,
  summary: spec.summary,
  about: spec.about ?? '',
  effect: effectOf(command),
  safeToRepeat: isSafeToRepeat(command),
  args: (spec.args ?? []).map(argumentEntry),
  options: Object.values(spec.options ?? {}).map(optionEntry),
  exits: exitsOf(command),
  examples: spec.examples,
});

const argumentEntry = ({ name, help, values }: Argument): CommandEntry['args'][number] => ({
  name: bareName(name),
  help,
  required: name.startsWith('<'),
  repeatable: name.includes('…'),
  values: words(values),
});

export const optionEntry = (option: Option): OptionEntry => ({
  flags: flagNames(option),
  help: option.help,
  value: valueName(option),
  values: words(option.values),
  default: option.shownDefault ?? '',
  repeatable: Array.isArray(option.initial),
  env: option.env ?? '',
});

/** Those that are known; others come from the ledger, or are paths. */
const words = (values: Option['values']): readonly string[] => (Array.isArray(values) ? values : []);
