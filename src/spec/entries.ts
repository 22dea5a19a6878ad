/** The whole interface for programs, read from the specs. */
import type { CommandEntry, OptionEntry } from '../lib/command-entry.ts';
import { exitCodes, type Kind } from '../lib/errors.ts';
import type { CommandOutput } from '../views/record.ts';
import type { Argument, Command, Group } from './command.ts';
import { bareName, flagNames, type Option, valueName } from './options.ts';

/** Beside 0: any command may fail, be called wrongly or be interrupted. */
const EVERY_EXIT: readonly Kind[] = ['failed', 'usage', 'interrupted'];

interface Runnable {
  /** `events show` */
  readonly path: string;
  readonly group: string;
  readonly spec: Command;
}

/** Every command that can be run, in the order of the help. */
const runnables = (groups: readonly Group[]): Runnable[] =>
  groups.flatMap(({ title, commands }) => commands.flatMap((spec) => runnableBelow(spec, [], title)));

function runnableBelow(spec: Command, above: readonly string[], group: string): Runnable[] {
  const path = [...above, spec.name];
  const below = (spec.children ?? []).flatMap((child) => runnableBelow(child, path, group));
  return spec.run ? [{ path: path.join(' '), group, spec }, ...below] : below;
}

export const commandEntries = (groups: readonly Group[]): CommandEntry[] => runnables(groups).map(entryOf);

const entryOf = ({ path, group, spec }: Runnable): CommandEntry => ({
  command: path,
  alias: spec.alias ?? '',
  group,
  summary: spec.summary,
  about: spec.about ?? '',
  effect: spec.effect ?? 'read',
  safeToRepeat: !spec.once && spec.effect !== 'money',
  args: (spec.args ?? []).map(argumentEntry),
  options: Object.values(spec.options ?? {}).map(optionEntry),
  exits: (['ok', ...EVERY_EXIT, ...(spec.exits ?? [])] as const)
    .map((name) => ({ code: exitCodes[name].code, name }))
    .sort((one, other) => one.code - other.code),
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
  effect: option.effect ?? '',
});

/** Those that are known; others come from the ledger, or are paths. */
const words = (values: Option['values']): readonly string[] => (Array.isArray(values) ? values : []);

/** What every command prints, by its path: `events show`, `order --dry-run`. */
export const outputsOf = (groups: readonly Group[]): ReadonlyMap<string, CommandOutput> =>
  new Map(
    runnables(groups).flatMap(({ path, spec: { output, dryRunOutput } }) => [
      ...(output ? [[path, output()] as const] : []),
      ...(dryRunOutput ? [[`${path} --dry-run`, dryRunOutput()] as const] : []),
    ]),
  );
