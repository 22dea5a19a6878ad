/** Reads a command line with commander. */
import { Command as Commander, CommanderError, Option as CommanderOption } from 'commander';
import { usage } from '../lib/errors.ts';
import { commands } from './command-list.ts';
import type { Command, Input } from './command-spec.ts';
import { checkFlags, type GivenFlags, longName } from './flag-rules.ts';
import { type GlobalValues, globalOptions } from './global-options.ts';
import { findCommands } from './help-page.ts';
import type { Option, Options } from './options.ts';
import { checkPasted } from './pasted-line.ts';
import { explainLine, subcommandHint } from './wrong-line.ts';

/** What a command line asks for. */
export interface Run {
  readonly command: Command;
  readonly input: Input<Options>;
  readonly globals: GlobalValues;
}

/** The same without its words. */
type ParsedRun = Omit<Run, 'input'> & { readonly input: Omit<Run['input'], 'line'> };

/** The version. */
export interface Printed {
  readonly text: string;
}

/** The page of a command or a topic; of the program itself without words. */
export interface Help {
  readonly help: readonly string[];
}

export function parse(argv: readonly string[]): Run | Printed | Help {
  checkPasted(argv);
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

function parseFully(argv: readonly string[]): Run | Printed | Help {
  try {
    const { run, help, text } = readLine(argv);
    if (run) return run;
    return text ? { text } : { help: help ?? [] };
  } catch (error) {
    throw error instanceof CommanderError ? explainLine(error, argv) : error;
  }
}

interface Line {
  run?: Run;
  help?: readonly string[];
  text: string;
}

/** The command to run, or else the page of help or the text that the line asks for. */
function readLine(argv: readonly string[], only?: ReadonlySet<string>): Line {
  const read: Line = { text: '' };
  const program = buildProgram({
    onRun: (run) => {
      read.run = { ...run, input: { ...run.input, line: argv } };
    },
    onHelp: (words) => {
      read.help = pageWords(argv, words);
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

/** The words of the page: what commander found, or what stands in its place. */
function pageWords(argv: readonly string[], found: readonly string[]): readonly string[] {
  if (found.length === 0) return firstWord(argv);
  // `steno help order --help` asks for the page of order.
  const asked = argv.slice(argv.indexOf('help') + 1).filter((word) => !word.startsWith('-'));
  if (found.length === 1 && found[0] === 'help' && asked.length) return asked;
  return [...found, ...wordsAfterHelp(argv, found)];
}

/** In `steno events --help show` the page is that of `events show`. */
function wordsAfterHelp(argv: readonly string[], before: readonly string[]): string[] {
  const at = argv.findIndex((word) => word === '--help' || word === '-h');
  const next = argv.slice(at + 1).filter((word) => !word.startsWith('-'));
  let count = 0;
  if (at >= 0)
    while (count < next.length && findCommands([...before, ...next.slice(0, count + 1)])) count += 1;
  return next.slice(0, count);
}

/** What stands where a command should: it names none, or commander would have found it. */
function firstWord(argv: readonly string[]): string[] {
  const takesValue = Object.values<Option>(globalOptions).filter((option) => option.takesValue);
  const flags = takesValue.map(({ flags }) => flags.split(' ')[0]);
  const word = argv.find((each, at) => !each.startsWith('-') && !flags.includes(argv[at - 1]));
  return word === undefined ? [] : [word];
}

interface Build {
  readonly onRun?: (run: ParsedRun) => void;
  /** Takes the words that name a page of help. */
  readonly onHelp?: (words: readonly string[]) => void;
  /** Takes the version. */
  readonly write?: (text: string) => void;
  /** Builds only the commands of these names. */
  readonly only?: ReadonlySet<string> | undefined;
}

export function buildProgram({
  onRun = ignore,
  onHelp = ignore,
  write = ignore,
  only,
}: Build = {}): Commander {
  const program = new Commander('steno').usage('<command> [options]');
  program.configureOutput({ writeOut: write, writeErr: ignore });
  // The pages are made without commander, from the same specs.
  const formatHelp = (command: Commander): string => {
    onHelp(namesOf(command));
    return '';
  };
  program.exitOverride().configureHelp({ formatHelp }).enablePositionalOptions();
  program.showSuggestionAfterError(true).helpCommand(false);
  addShared(program);
  for (const spec of commands) {
    if (only && !only.has(spec.name) && !only.has(spec.alias ?? spec.name)) continue;
    program.addCommand(build(spec, program, onRun));
  }
  if (!only || only.has('help')) program.addCommand(buildHelp(program, onHelp));
  return program;
}

const ignore = (): void => {};

/** The names from the program, which is left out, down to this command. */
function namesOf(command: Commander): string[] {
  return command.parent ? [...namesOf(command.parent), command.name()] : [];
}

function buildHelp(parent: Commander, onHelp: (words: readonly string[]) => void): Commander {
  const command = new Commander('help')
    .copyInheritedSettings(parent)
    .argument('[words...]')
    .helpCommand(false);
  addShared(command);
  return command.action((words: string[]) => onHelp(words));
}

function build(spec: Command, parent: Commander, onRun: (run: ParsedRun) => void): Commander {
  const command = new Commander(spec.name);
  command.copyInheritedSettings(parent).enablePositionalOptions().helpCommand(false);
  if (spec.alias) command.alias(spec.alias);
  for (const argument of spec.args ?? []) {
    command.argument(argument.name.replace('…', '...'));
  }
  for (const option of Object.values(spec.options ?? {})) command.addOption(commanderOption(option));
  addShared(command);
  for (const child of spec.children ?? []) command.addCommand(build(child, command, onRun));
  if (!spec.load) command.allowExcessArguments();
  return command.action(() => {
    if (!spec.load) throw noSubcommand(spec, command.args[0]);
    const globals = globalsOf(command);
    checkFlags(spec, givenFlags(command, spec));
    onRun({ command: spec, input: inputOf(command, spec), globals });
  });
}

function addShared(command: Commander): void {
  for (const option of Object.values<Option>(globalOptions)) {
    command.addOption(commanderOption(option));
  }
  command.helpOption('-h, --help').version(STENO_VERSION, '-V, --version');
}

function commanderOption(spec: Option): CommanderOption {
  const option = new CommanderOption(spec.flags);
  if (spec.takesValue) option.argParser((text, previous) => spec.read(text, previous ?? spec.initial));
  return option;
}

function inputOf(command: Commander, spec: Command): ParsedRun['input'] {
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
  return usage(`unknown command 'steno ${spec.name} ${given}'`, subcommandHint(spec, given, see));
}
