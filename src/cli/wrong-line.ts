/** Reads a command line that names no command, asks for help, or is wrong: with all commands, and with advice. */
import { type StenoError, usage } from '../lib/errors.ts';
import { didYouMean, nearest, quotedWord, shellWord } from '../lib/text.ts';
import type { Command, Group } from '../spec/command.ts';
import { globalOptions } from '../spec/global-options.ts';
import { longName, type Option } from '../spec/options.ts';
import { commandsOf } from './help-page.ts';
import { type Help, NoSubcommand, type Printed, type Run, readLine, WrongLine } from './program.ts';

export function parseWholly(argv: readonly string[], groups: readonly Group[]): Run | Printed | Help {
  const commands = commandsOf(groups);
  try {
    const { run, help, text } = readLine(argv, commands, true);
    if (run) return run;
    return text ? { text } : { help: pageWords(argv, help ?? []) };
  } catch (error) {
    if (error instanceof NoSubcommand) throw wrongSubcommand(error.spec, error.word);
    throw error instanceof WrongLine ? explainLine(error, argv, commands) : error;
  }
}

/** The words of the page: what commander found, or what stands in its place. */
function pageWords(argv: readonly string[], found: readonly string[]): readonly string[] {
  const words = wordsOf(argv, undefined);
  if (found.length === 0) return words.slice(0, 1);
  // `steno help order --help` asks for the page of order.
  return found[0] === 'help' && words.length > 1 ? words.slice(1) : found;
}

/** What people call a command elsewhere. */
const otherNames: Readonly<Record<string, string>> = {
  order: 'upload submit create new transcribe',
  transcript: 'download get fetch',
  file: 'status show info',
  files: 'list orders jobs',
  refund: 'cancel delete',
  login: 'auth init setup signin',
  skus: 'prices products',
};

function commandHint(word: string, commands: readonly Command[]): string {
  const list = 'see: steno --help';
  if (/^[a-z]+:\/\//i.test(word)) return `to order it: steno order ${quotedWord(word)} --sku TRANS14`;
  if (/^\d+$/.test(word)) return `to see a file: steno file ${word}; ${list}`;
  if (/\.(csv|jsonl?|txt)$/i.test(word))
    return `to order from a manifest: steno order --from ${shellWord(word)}; ${list}`;
  if (word === 'version') return `run: steno --version; ${list}`;
  const [same] = Object.entries(otherNames).find(([, words]) => words.split(' ').includes(word)) ?? [];
  return same ? `did you mean ${same}? ${list}` : didYouMean(word, namesOf(commands), list);
}

const namesOf = (specs: readonly Command[]): string[] =>
  specs.flatMap(({ name, alias }) => (alias ? [name, alias] : [name]));

export function wrongSubcommand({ name, children = [] }: Command, word: string | undefined): StenoError {
  const names = children.map((child) => child.name);
  const see = `see: steno ${name} --help`;
  if (word === undefined) return usage(`${name} requires one of: ${names.join(', ')}`, see);
  const list = `choose from: ${names.join(', ')}; ${see}`;
  return usage(`unknown command 'steno ${name} ${word}'`, didYouMean(word, names, list));
}

/** Commander's error as one line of ours and a hint. */
function explainLine(error: WrongLine, argv: readonly string[], commands: readonly Command[]): StenoError {
  const [message = ''] = error.message.replace(/^error: /, '').split('\n');
  const path = pathOf(argv, commands);
  const names = path.map(({ name }) => name).join(' ');
  const see = `see: ${['steno', ...path.map(({ name }) => name), '--help'].join(' ')}`;
  const wrong = /'([^']*)'/.exec(message)?.[1] ?? '';
  switch (error.code) {
    case 'commander.unknownCommand':
      return usage(message, commandHint(wrong, commands));
    case 'commander.unknownOption':
      return usage(message, optionHint(wrong, path, commands) ?? see);
    case 'commander.excessArguments':
      return tooManyWords(path, argv, see);
    case 'commander.missingArgument':
      return usage(`${names} requires <${wrong}>`, see);
    case 'commander.optionMissingArgument':
      return usage(`${/--[\w-]+/.exec(wrong)?.[0] ?? wrong} requires a value: ${wrong}`, see);
    default:
      return usage(message, see);
  }
}

/** The command that the line names, with its subcommand. */
function pathOf(argv: readonly string[], commands: readonly Command[]): Command[] {
  const path: Command[] = [];
  let known = commands;
  for (const word of argv) {
    const found = known.find((each) => each.name === word || each.alias === word);
    if (!found) continue;
    path.push(found);
    known = found.children ?? [];
  }
  return path;
}

/** Those of a command, and the global ones. */
const optionsOf = (spec: Command | undefined): Option[] => [
  ...Object.values<Option>(spec?.options ?? {}),
  ...Object.values<Option>(globalOptions),
];

/** The words that are neither flags nor values of flags. */
const wordsOf = (argv: readonly string[], spec: Command | undefined): string[] => {
  const withValue = new Set(optionsOf(spec).flatMap((each) => (each.takesValue ? longName(each) : [])));
  return argv.filter((word, at) => !word.startsWith('-') && !withValue.has(argv[at - 1] ?? ''));
};

function optionHint(
  given: string,
  path: readonly Command[],
  commands: readonly Command[],
): string | undefined {
  const [flag = ''] = given.split('=');
  const names = path.map(({ name }) => name).join(' ');
  const known = optionsOf(path.at(-1)).map(longName);
  if (/^-\d/.test(given)) return 'ids and amounts do not start with a hyphen';
  if (known.includes(flag))
    return given === flag || wordsOf([flag, 'value'], path.at(-1)).length === 0
      ? `write it after the command: steno ${names} … ${given}`
      : `${flag} takes no value: leave it out`;
  const near = nearest(
    flag.replace(/^-+/, ''),
    known.map((each) => each.slice(2)),
  );
  if (near) return `did you mean --${near}?`;
  const owners = commands
    .flatMap((spec) => [spec, ...(spec.children ?? [])])
    .filter(({ options = {} }) => Object.values(options).some((option) => longName(option) === flag))
    .map(({ name }) => name);
  return owners.length ? `${flag} belongs to: ${owners.join(', ')}` : undefined;
}

function tooManyWords(path: readonly Command[], argv: readonly string[], see: string): StenoError {
  const spec = path.at(-1);
  const word = wordsOf(argv, spec)[path.length] ?? '';
  if (spec?.children && path.length === 1) return wrongSubcommand(spec, word);
  // A key in the command line must not be repeated.
  if (spec?.name === 'login')
    return usage('login takes no arguments', 'run steno login, and paste the key when asked');
  const names = (spec?.args ?? []).map(({ name }) => name);
  const count =
    names.length === 1 ? `one argument: ${names[0]}` : `${names.length} arguments: ${names.join(' ')}`;
  const one = spec?.name === 'files' ? `to see one file: steno file ${word}; ${see}` : see;
  return usage(
    `${path.map(({ name }) => name).join(' ')} takes ${names.length ? count : 'no arguments'}`,
    one,
  );
}

/** A flag with another dash, or with one: it would be taken for an argument, or for `-o` and a value. */
const wrongDash = /^-?[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+([a-z][a-z-]*)|^-([a-z][a-z-]+)/i;

/** Throws where a word is a flag that was written with another dash. */
export function checkDashes(argv: readonly string[], groups: readonly Group[]): void {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const options = optionsOf(pathOf(words, commandsOf(groups)).at(-1));
  const find = (flag: string): Option | undefined => options.find((each) => longName(each) === flag);
  for (const [at, word] of words.entries()) {
    const [, other, one] = wrongDash.exec(word) ?? [];
    const flag = `--${(other ?? one ?? '').toLowerCase()}`;
    if (!find(flag) || find(words[at - 1] ?? '')?.takesValue) continue;
    throw other
      ? usage(`'${word}' starts with a dash that is not a hyphen`, `type it as ${flag}`)
      : usage(`unknown option '${word}'`, `did you mean ${flag}? It has two dashes`);
  }
}
