/** The command tree and its help: argv in, what is to be run out. Cheap to load: commands fetch their parts later. */
import { Command as Commander, CommanderError, Option as CommanderOption } from 'commander';
import { api } from '../commands/api.ts';
import { balance } from '../commands/balance.ts';
import { completion } from '../commands/completion.ts';
import { config } from '../commands/config.ts';
import { events } from '../commands/events.ts';
import { file } from '../commands/file.ts';
import { files } from '../commands/files.ts';
import { formatsCommand } from '../commands/formats.ts';
import { invoice } from '../commands/invoice.ts';
import { listen } from '../commands/listen.ts';
import { login } from '../commands/login.ts';
import { logout } from '../commands/logout.ts';
import { order } from '../commands/order.ts';
import { refund } from '../commands/refund.ts';
import { sandbox } from '../commands/sandbox.ts';
import { skus } from '../commands/skus.ts';
import { states } from '../commands/states.ts';
import { sync } from '../commands/sync.ts';
import { transcript } from '../commands/transcript.ts';
import { upgrade } from '../commands/upgrade.ts';
import { wait } from '../commands/wait.ts';
import { webhook } from '../commands/webhook.ts';
import { whoami } from '../commands/whoami.ts';
import { usage } from '../lib/errors.ts';
import { didYouMean } from '../lib/suggest.ts';
import type { Command, Input } from './command-spec.ts';
import { type GlobalValues, globalOptions } from './global-options.ts';
import { examplesText, exitCodesText, GLOBAL, helpStyle } from './help.ts';
import type { Option, Options } from './options.ts';

export interface Group {
  readonly title: string;
  readonly commands: readonly Command[];
}

export const groups: readonly Group[] = [
  { title: 'Order and follow', commands: [order, files, file, wait, transcript, sync] },
  { title: 'Change and pay', commands: [upgrade, refund, balance, invoice] },
  { title: 'Events', commands: [listen, events, webhook] },
  { title: 'Set up', commands: [login, logout, whoami, config] },
  { title: 'Look up', commands: [skus, states, formatsCommand] },
  { title: 'More', commands: [sandbox, api, completion] },
];

export const commands: readonly Command[] = groups.flatMap((group) => group.commands);

export const about = 'Order transcription of audio by URL, follow it, and download the transcripts.';

const rootExamples: Command['examples'] = [
  ['steno --sandbox order https://example.com/talk.mp3 --sku TRANS14 --download .', 'try it with no account'],
  ['steno login', 'keep the key of your account'],
  ['steno order https://example.com/talk.mp3 --sku TRANS14', 'order a transcript'],
  ['steno sync --download transcripts', 'fetch whatever is new'],
];

export interface Run {
  readonly command: Command;
  readonly input: Input<Options>;
  readonly globals: GlobalValues;
}

/** Something to print instead: help or the version. */
export interface Printed {
  readonly text: string;
}

/** Reads a line. Only the commands that it names are built: the others matter where it can't be read as it is. */
export function parse(argv: readonly string[]): Run | Printed {
  if (argv[0] === 'help') checkCommand(argv[1]);
  try {
    return parseWith(argv, new Set(argv));
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  try {
    return parseWith(argv);
  } catch (error) {
    throw error instanceof CommanderError ? explain(error, argv) : error;
  }
}

/** Whoever asks for help on a command that is not there has mistyped it. */
function checkCommand(name: string | undefined): void {
  const names = groups.flatMap((group) =>
    group.commands.flatMap((spec) => [spec.name, ...(spec.alias ? [spec.alias] : [])]),
  );
  if (name === undefined || name.startsWith('-') || name === 'help' || names.includes(name)) return;
  throw usage(`unknown command '${name}'`, didYouMean(name, names, 'see: steno --help'));
}

function parseWith(argv: readonly string[], words?: ReadonlySet<string>): Run | Printed {
  let text = '';
  let run: Run | undefined;
  const program = buildProgram(
    (chosen) => {
      run = chosen;
    },
    (part) => {
      text += part;
    },
    words,
  );
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    const isText =
      error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help');
    if (!isText || words) throw error;
  }
  if (!run && words) return parseWith(argv);
  return run ?? (text ? { text } : parseWith(['--help']));
}

type OnRun = (run: Run) => void;

/** Builds the tree, or of it only the commands among the words that are given. */
export function buildProgram(
  onRun: OnRun = () => {},
  write: (text: string) => void = () => {},
  words?: ReadonlySet<string>,
): Commander {
  const program = new Commander('steno').description(about).usage('<command> [options]');
  program.configureOutput({ writeOut: write, writeErr: () => {} });
  program.exitOverride().configureHelp(helpStyle).enablePositionalOptions().showSuggestionAfterError(true);
  program.addHelpCommand(
    new Commander('help').argument('[command]').summary('Explain a command').helpGroup('More:'),
  );
  addShared(program);
  for (const group of groups) {
    for (const spec of group.commands) {
      if (words && !words.has(spec.name) && !words.has(spec.alias ?? spec.name)) continue;
      const command = build(spec, program, onRun).helpGroup(`${group.title}:`);
      program.addCommand(command);
    }
  }
  const last = `\nHelp on a command: steno <command> --help\n${exitCodesText()}\n`;
  return program.addHelpText('after', examplesText(rootExamples) + last);
}

function build(spec: Command, parent: Commander, onRun: OnRun): Commander {
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
    onRun({ command: spec, input: inputOf(command, spec), globals: globalsOf(command) });
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

/** A global option counts wherever it stands; the one nearest to the end of the line wins. */
function globalsOf(command: Commander): GlobalValues {
  const values = Object.entries<Option>(globalOptions).map(([key, option]) => {
    for (let at: Commander | null = command; at; at = at.parent) {
      const value = given(at, key);
      if (value !== undefined) return [key, value];
    }
    return [key, option.initial];
  });
  const globals = Object.fromEntries(values) as GlobalValues;
  if (globals.json && globals.csv) throw usage('--json and --csv exclude each other', 'choose one of them');
  return globals;
}

const given = (command: Commander, key: string): unknown =>
  command.getOptionValueSource(key) === 'cli' ? command.getOptionValue(key) : undefined;

function noSubcommand(spec: Command, given: string | undefined): Error {
  const names = (spec.children ?? []).map((child) => child.name);
  const see = `see: steno ${spec.name} --help`;
  if (given === undefined) return usage(`steno ${spec.name} wants one of: ${names.join(', ')}`, see);
  return usage(`unknown command 'steno ${spec.name} ${given}'`, didYouMean(given, names, see));
}

/** Turns commander's words into one line of ours and a hint. */
function explain(error: CommanderError, argv: readonly string[]): Error {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const guess = /\(Did you mean (?:one of )?(.*?)\?\)/.exec(rest.join(' '))?.[1];
  return usage(
    first,
    guess ? `did you mean ${guess}?` : `see: ${['steno', ...pathOf(argv), '--help'].join(' ')}`,
  );
}

/** The command that a line is about, as far as it can be told. */
function pathOf(argv: readonly string[]): string[] {
  const path: string[] = [];
  let commands: readonly Command[] = groups.flatMap((group) => group.commands);
  for (const word of argv) {
    const found = commands.find((each) => each.name === word || each.alias === word);
    if (!found) continue;
    path.push(found.name);
    commands = found.children ?? [];
  }
  return path;
}
