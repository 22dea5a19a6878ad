/** The commands as commander needs them, and what it makes of a command line. */
import { Command as Commander, CommanderError, Option as CommanderOption } from 'commander';
import { usage } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import { ALL_COLUMNS } from '../lib/view.ts';
import type { Command, Input } from '../spec/command.ts';
import { type GlobalValues, globalOptions } from '../spec/global-options.ts';
import { longName, type Option, type Options, type OptionValues } from '../spec/options.ts';

/** What a command line asks for. */
export interface Run {
  readonly command: Command;
  /** `events show` */
  readonly path: string;
  readonly input: Input<Options>;
  readonly globals: GlobalValues;
}

/** The version. */
export interface Printed {
  readonly text: string;
}

/** The page of a command or a topic; of the program itself without words. */
export interface Help {
  readonly help: readonly string[];
}

/** A line that commander can't read, with its code for why. */
export { CommanderError as WrongLine };

/** A command that has subcommands was given none of them. */
export class NoSubcommand extends Error {
  readonly spec: Command;
  readonly word: string | undefined;

  constructor(spec: Command, word: string | undefined) {
    super(`${spec.name} requires a subcommand`);
    this.spec = spec;
    this.word = word;
  }
}

interface Line {
  readonly argv: readonly string[];
  run?: Run;
  /** The words that commander found before it came to the help. */
  help?: readonly string[];
  text: string;
}

/** The command to run, or else the page of help or the text that the line asks for. */
export function readLine(argv: readonly string[], specs: readonly Command[], hasHelp = false): Line {
  const read: Line = { text: '', argv };
  try {
    buildProgram(specs, hasHelp, read).parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // It is also thrown after help or the version was printed.
    if (error.exitCode !== 0 && error.code !== 'commander.help') throw error;
  }
  return read;
}

/** `hasHelp`: whether there is a command `help` too. What the line asks for is noted in `read`. */
export function buildProgram(
  specs: readonly Command[],
  hasHelp = true,
  read: Line = { text: '', argv: [] },
): Commander {
  const program = new Commander('steno').usage('<command> [options]');
  const writeOut = (text: string): void => {
    read.text += text;
  };
  program.configureOutput({ writeOut, writeErr: () => {} });
  // The pages are made without commander, from the same specs.
  const formatHelp = (command: Commander): string => {
    read.help = namesOf(command);
    return '';
  };
  program.exitOverride().configureHelp({ formatHelp }).enablePositionalOptions();
  program.showSuggestionAfterError(true).helpCommand(false);
  addShared(program);
  for (const spec of specs) program.addCommand(build(spec, program, read));
  if (hasHelp) program.addCommand(buildHelp(program, read));
  return program;
}

/** The names from the program, which is left out, down to this command. */
function namesOf(command: Commander): string[] {
  return command.parent ? [...namesOf(command.parent), command.name()] : [];
}

function buildHelp(parent: Commander, read: Line): Commander {
  const command = new Commander('help')
    .copyInheritedSettings(parent)
    .argument('[words...]')
    .helpCommand(false);
  addShared(command);
  return command.action((words: string[]) => {
    read.help = words;
  });
}

function build(spec: Command, parent: Commander, read: Line): Commander {
  const command = new Commander(spec.name);
  command.copyInheritedSettings(parent).enablePositionalOptions().helpCommand(false);
  if (spec.alias) command.alias(spec.alias);
  if (spec.dashWords) {
    const parseOptions = command.parseOptions.bind(command);
    command.parseOptions = (words) => parseOptions(withDashWordsLast(words));
  }
  for (const argument of spec.args ?? []) {
    command.argument(argument.name.replace('…', '...'));
  }
  for (const option of Object.values(spec.options ?? {})) command.addOption(commanderOption(option));
  addShared(command);
  for (const child of spec.children ?? []) command.addCommand(build(child, command, read));
  if (!spec.run) command.allowExcessArguments();
  return command.action(() => {
    if (!spec.run) throw new NoSubcommand(spec, command.args[0]);
    checkFlags(spec, givenFlags(command, spec));
    const input = { args: command.args, options: valuesOf(command, spec.options ?? {}), line: read.argv };
    const globals = valuesOf(command, globalOptions);
    read.run = { command: spec, path: namesOf(command).join(' '), input, globals };
  });
}

/** `-word` is an argument, though `-w` and `--word` would be flags: put where commander takes it for one. */
function withDashWordsLast(words: readonly string[]): string[] {
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const before = words.slice(0, end);
  const isArgument = (word: string): boolean => /^-[^-]./.test(word);
  return [
    ...before.filter((word) => !isArgument(word)),
    '--',
    ...before.filter(isArgument),
    ...words.slice(end + 1),
  ];
}

function addShared(command: Commander): void {
  for (const option of Object.values<Option>(globalOptions)) {
    command.addOption(commanderOption(option));
  }
  command.helpOption('-h, --help').version(STENO_VERSION, '-v, --version');
}

function commanderOption(spec: Option): CommanderOption {
  const option = new CommanderOption(spec.flags);
  if (spec.takesValue) option.argParser((text, previous) => spec.read(text, previous ?? spec.initial));
  return option;
}

function valuesOf<O extends Options>(command: Commander, options: O): OptionValues<O> {
  const values = Object.entries<Option>(options).map(([key, { initial }]) => [
    key,
    given(command, key) ?? initial,
  ]);
  return Object.fromEntries(values) as OptionValues<O>;
}

/** Every flag of the line by its long name, global ones before the command too. */
function givenFlags(command: Commander, spec: Command): GivenFlags {
  const options: Options = { ...globalOptions, ...spec.options };
  const values = Object.entries(options).map(
    ([key, option]) => [longName(option), given(command, key)] as const,
  );
  return new Map(values.filter(([, value]) => value !== undefined));
}

/** A global option may stand before or after the command; the later one wins. */
function given(command: Commander, key: string): unknown {
  if (command.getOptionValueSource(key) === 'cli') return command.getOptionValue(key);
  return command.parent && key in globalOptions ? given(command.parent, key) : undefined;
}

/** The flags of a command line, by their long names, with their values. */
type GivenFlags = ReadonlyMap<string, unknown>;

/** Refuses flags that would be ignored, or that contradict each other, before anything is done. */
function checkFlags(spec: Command, given: GivenFlags): void {
  const known = [...Object.values(spec.options ?? {}), ...Object.values<Option>(globalOptions)];
  for (const option of known.filter((each) => given.has(longName(each)))) {
    const { needs = [], excludes = [] } = option;
    const name = longName(option);
    if (needs.length && !needs.some((each) => given.has(each)))
      throw usage(`${name} requires ${needs.join(' or ')}`, `add ${needs[0]}, or leave out ${name}`);
    for (const other of excludes) checkPair(name, other, given);
  }
  for (const [one, other] of spec.conflicts ?? []) checkPair(one, other, given);
  for (const [name, why] of Object.entries(spec.refuses ?? {})) {
    if (given.has(name)) throw usage(`${name} has no effect here: ${why}`, `leave out ${name}`);
  }
  checkColumns(spec, given);
}

function checkColumns(spec: Command, given: GivenFlags): void {
  const flag = ['--columns', '--markdown'].find((each) => given.has(each));
  if (flag === undefined) return;
  const output = given.has('--dry-run') ? (spec.dryRunOutput ?? spec.output) : spec.output;
  const known = (output?.().choosable ?? []).map(({ name }) => name);
  if (known.length === 0) throw usage(`${flag} has no effect here: this command prints no table`);
  const asked = (given.get('--columns') ?? []) as readonly string[];
  for (const name of asked) {
    if (name !== ALL_COLUMNS && !known.includes(name))
      throw usage(
        `${spec.name} has no column '${name}'`,
        didYouMean(name, known, `its columns: ${known.join(', ')}`),
      );
  }
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
