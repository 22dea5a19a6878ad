/** Reads a command line with commander, which also makes the help pages. */
import { Command as Commander, CommanderError, Option as CommanderOption } from 'commander';
import { usage } from '../lib/errors.ts';
import { didYouMean } from '../lib/suggest.ts';
import { commands, groups } from './command-list.ts';
import type { Command, Input } from './command-spec.ts';
import { checkFlags, type GivenFlags, longName } from './flag-rules.ts';
import { type GlobalValues, globalOptions } from './global-options.ts';
import { examplesText, exitCodesText, GLOBAL, helpStyle } from './help.ts';
import type { Option, Options } from './options.ts';

export const about = 'Order transcription of audio by URL, follow it, and download the transcripts.';

const rootExamples: Command['examples'] = [
  ['steno --sandbox order https://example.com/talk.mp3 --sku TRANS14 --download .', 'try it with no account'],
  ['steno login', 'keep the key of your account'],
  ['steno order https://example.com/talk.mp3 --sku TRANS14', 'order a transcript'],
  ['steno sync --download transcripts', 'fetch whatever is new'],
];

/** What a command line asks for. */
export interface Run {
  readonly command: Command;
  readonly input: Input<Options>;
  readonly globals: GlobalValues;
}

/** Help or the version. */
export interface Printed {
  readonly text: string;
}

export function parse(argv: readonly string[]): Run | Printed {
  if (argv[0] === 'help') checkCommand(argv[1]);
  return parseQuickly(argv) ?? parseFully(argv);
}

/**
 * Speed: commander builds only the commands that the line names, which saves a tenth of the processor time of `steno
 * balance` and `steno config path`. If that leads to no command, parseFully decides. To take it out, call parseFully
 * alone.
 */
function parseQuickly(argv: readonly string[]): Run | undefined {
  try {
    return readLine(argv, new Set(argv)).run;
  } catch (error) {
    if (error instanceof CommanderError) return undefined;
    throw error;
  }
}

function parseFully(argv: readonly string[]): Run | Printed {
  try {
    const { run, text } = readLine(argv);
    return run ?? (text ? { text } : parseFully(['--help']));
  } catch (error) {
    throw error instanceof CommanderError ? explain(error, argv) : error;
  }
}

/** The command to run, or else what commander would print. */
function readLine(argv: readonly string[], only?: ReadonlySet<string>): { run?: Run; text: string } {
  const read: { run?: Run; text: string } = { text: '' };
  const program = buildProgram({
    onRun: (run) => {
      read.run = run;
    },
    write: (text) => {
      read.text += text;
    },
    only,
  });
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    // Commander throws after it has printed help or the version.
    const printed =
      error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help');
    if (!printed) throw error;
  }
  return read;
}

/** Commander would print the help of the root for a command that does not exist. */
function checkCommand(name: string | undefined): void {
  const names = commands.flatMap((spec) => (spec.alias ? [spec.name, spec.alias] : [spec.name]));
  if (name === undefined || name.startsWith('-') || name === 'help' || names.includes(name)) return;
  throw usage(`unknown command '${name}'`, didYouMean(name, names, 'see: steno --help'));
}

interface Build {
  readonly onRun?: (run: Run) => void;
  /** Takes the text of help and version. */
  readonly write?: (text: string) => void;
  /** Builds only the commands of these names. */
  readonly only?: ReadonlySet<string> | undefined;
}

export function buildProgram({ onRun = () => {}, write = () => {}, only }: Build = {}): Commander {
  const program = new Commander('steno').description(about).usage('<command> [options]');
  program.configureOutput({ writeOut: write, writeErr: () => {} });
  program.exitOverride().configureHelp(helpStyle).enablePositionalOptions().showSuggestionAfterError(true);
  program.addHelpCommand(
    new Commander('help').argument('[command]').summary('Explain a command').helpGroup('More:'),
  );
  addShared(program);
  for (const { title, commands } of groups) {
    for (const spec of commands) {
      if (only && !only.has(spec.name) && !only.has(spec.alias ?? spec.name)) continue;
      program.addCommand(build(spec, program, onRun).helpGroup(`${title}:`));
    }
  }
  const last = `\nHelp on a command: steno <command> --help\n${exitCodesText()}\n`;
  return program.addHelpText('after', examplesText(rootExamples) + last);
}

function build(spec: Command, parent: Commander, onRun: (run: Run) => void): Commander {
  const command = new Commander(spec.name)
    .summary(spec.summary)
    .description(spec.about ?? `${spec.summary}.`);
  command.copyInheritedSettings(parent).enablePositionalOptions().helpCommand(false);
  if (spec.alias) command.alias(spec.alias);
  for (const argument of spec.args ?? []) {
    command.argument(argument.name.replace('…', '...'), argument.help);
  }
  for (const option of Object.values(spec.options ?? {})) command.addOption(commanderOption(option));
  addShared(command);
  for (const child of spec.children ?? []) command.addCommand(build(child, command, onRun));
  if (!spec.load) command.allowExcessArguments();
  command.action(() => {
    if (!spec.load) throw noSubcommand(spec, command.args[0]);
    const globals = globalsOf(command);
    checkFlags(spec, givenFlags(command, spec));
    onRun({ command: spec, input: inputOf(command, spec), globals });
  });
  return command.addHelpText('after', examplesText(spec.examples));
}

function addShared(command: Commander): void {
  for (const option of Object.values<Option>(globalOptions)) {
    command.addOption(commanderOption(option).helpGroup(GLOBAL));
  }
  command
    .helpOption('-h, --help', 'explain this command')
    .version(STENO_VERSION, '-V, --version', 'print the version');
  for (const option of command.options) if (option.long === '--version') option.helpGroup(GLOBAL);
}

function commanderOption(spec: Option): CommanderOption {
  const notes = [spec.shownDefault && `default: ${spec.shownDefault}`, spec.env && `env: ${spec.env}`].filter(
    Boolean,
  );
  const option = new CommanderOption(spec.flags, spec.help + (notes.length ? ` (${notes.join(', ')})` : ''));
  if (spec.takesValue) option.argParser((text, previous) => spec.read(text, previous ?? spec.initial));
  return option;
}

function inputOf(command: Commander, spec: Command): Input<Options> {
  const options = Object.entries(spec.options ?? {}).map(([key, option]) => [
    key,
    given(command, key) ?? option.initial,
  ]);
  return { args: command.args, options: Object.fromEntries(options) };
}

/** A global option may stand before or after the command; the later one wins. */
function globalsOf(command: Commander): GlobalValues {
  const values = Object.entries<Option>(globalOptions).map(([key, option]) => {
    for (let at: Commander | null = command; at; at = at.parent) {
      const value = given(at, key);
      if (value !== undefined) return [key, value];
    }
    return [key, option.initial];
  });
  return Object.fromEntries(values) as GlobalValues;
}

/** Every flag of the line by its long name, global ones before the command too. */
function givenFlags(command: Commander, spec: Command): GivenFlags {
  const found = new Map<string, unknown>();
  const options: Options = { ...globalOptions, ...spec.options };
  for (const [key, option] of Object.entries(options)) {
    for (let at: Commander | null = command; at; at = key in globalOptions ? at.parent : null) {
      const value = given(at, key);
      if (value !== undefined && !found.has(longName(option))) found.set(longName(option), value);
    }
  }
  return found;
}

const given = (command: Commander, key: string): unknown =>
  command.getOptionValueSource(key) === 'cli' ? command.getOptionValue(key) : undefined;

function noSubcommand(spec: Command, given: string | undefined): Error {
  const names = (spec.children ?? []).map((child) => child.name);
  const see = `see: steno ${spec.name} --help`;
  if (given === undefined) return usage(`steno ${spec.name} requires one of: ${names.join(', ')}`, see);
  return usage(`unknown command 'steno ${spec.name} ${given}'`, didYouMean(given, names, see));
}

/** Commander's error as one line of ours and a hint. */
function explain(error: CommanderError, argv: readonly string[]): Error {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const guess = /\(Did you mean (?:one of )?(.*?)\?\)/.exec(rest.join(' '))?.[1];
  return usage(
    first,
    guess ? `did you mean ${guess}?` : `see: ${['steno', ...pathOf(argv), '--help'].join(' ')}`,
  );
}

/** The command that the line names, with its subcommand. */
function pathOf(argv: readonly string[]): string[] {
  const path: string[] = [];
  let known = commands;
  for (const word of argv) {
    const found = known.find((each) => each.name === word || each.alias === word);
    if (!found) continue;
    path.push(found.name);
    known = found.children ?? [];
  }
  return path;
}
