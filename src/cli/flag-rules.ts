/** Refuses flags that would be ignored, or that contradict each other, before anything is done. */
import { usage } from '../lib/errors.ts';
import type { Command } from '../spec/command.ts';
import { globalOptions } from '../spec/global-options.ts';
import type { Option } from '../spec/options.ts';

/** The flags of a command line, by their long names, with their values. */
export type GivenFlags = ReadonlyMap<string, unknown>;

/** The long name of an option: `--output` of `-o, --output <file>`. */
export const longName = ({ flags }: Pick<Option, 'flags'>): string =>
  /--[a-z][a-z-]*/.exec(flags)?.[0] ?? flags;

export function checkFlags(spec: Command, given: GivenFlags): void {
  const options = [...Object.values(spec.options ?? {}), ...Object.values<Option>(globalOptions)];
  for (const option of options) {
    const name = longName(option);
    if (!given.has(name)) continue;
    checkNeeds(name, option.needs ?? [], options, given);
    for (const other of option.excludes ?? []) checkPair(name, other, given);
  }
  for (const [one, other] of spec.conflicts ?? []) checkPair(one, other, given);
  for (const [name, why] of Object.entries(spec.refuses ?? {})) {
    if (given.has(name)) throw usage(`${name} has no effect here: ${why}`, `leave out ${name}`);
  }
}

function checkNeeds(
  name: string,
  needs: readonly string[],
  options: readonly Option[],
  given: GivenFlags,
): void {
  const [first] = needs;
  if (first === undefined || needs.some((each) => given.has(each))) return;
  const { flags = first } = options.find((each) => longName(each) === first) ?? {};
  throw usage(
    `${name} requires ${needs.join(' or ')}`,
    `without it ${name} would have no effect: add ${flags.replace(/^-\w, /, '')}, or leave out ${name}`,
  );
}

function checkPair(one: string, other: string, given: GivenFlags): void {
  if (!isGiven(one, given) || !isGiven(other, given)) return;
  throw usage(`${one} and ${other} can't be used together`, 'choose one of them');
}

/** `--output -` is the flag with that value. */
function isGiven(flag: string, given: GivenFlags): boolean {
  const [name = '', value] = flag.split(' ');
  return given.has(name) && (value === undefined || given.get(name) === value);
}
