/** Reads a command line that names no command, asks for help, or is wrong: with all commands, and with advice. */
import { type StenoError, usage } from '../lib/errors.ts';
import { didYouMean, nearest, quotedWord, shellWord } from '../lib/text.ts';
import { settingNames } from '../settings/settings.ts';
import type { Argument, Command, Group } from '../spec/command.ts';
import { globalOptions } from '../spec/global-options.ts';
import { bareName, longName, type Option } from '../spec/options.ts';
import { commandsOf, findCommands } from './help-page.ts';
import { commandFor, flagFor, subcommandFor } from './other-words.ts';
import { type Help, NoSubcommand, type Printed, type Run, readLine, WrongLine } from './program.ts';

export function parseWholly(argv: readonly string[], groups: readonly Group[]): Run | Printed | Help {
  const commands = commandsOf(groups);
  try {
    const { run, help, text } = readLine(argv, commands, true);
    if (run) return run;
    return text ? { text } : { help: help ? pageWords(argv, help, groups) : [] };
  } catch (error) {
    if (error instanceof NoSubcommand) throw withoutSubcommand(error);
    throw error instanceof WrongLine ? explainLine(error, argv, commands) : error;
  }
}

/** The words of the page: what commander found, or what stands in its place. */
function pageWords(
  argv: readonly string[],
  found: readonly string[],
  groups: readonly Group[],
): readonly string[] {
  if (found.length === 0) return firstWord(argv);
  // `steno help order --help` asks for the page of order.
  const asked = argv.slice(argv.indexOf('help') + 1).filter((word) => !word.startsWith('-'));
  if (found.length === 1 && found[0] === 'help' && asked.length) return asked;
  return [...found, ...wordsAfterHelp(argv, found, groups)];
}

/** In `steno events --help show` the page is that of `events show`. */
function wordsAfterHelp(
  argv: readonly string[],
  before: readonly string[],
  groups: readonly Group[],
): string[] {
  const at = argv.findIndex((word) => word === '--help' || word === '-h');
  const next = argv.slice(at + 1).filter((word) => !word.startsWith('-'));
  let count = 0;
  if (at >= 0)
    while (count < next.length && findCommands([...before, ...next.slice(0, count + 1)], groups)) count += 1;
  return next.slice(0, count);
}

/** What stands where a command should: it names none, or commander would have found it. */
function firstWord(argv: readonly string[]): string[] {
  const word = firstArgument(undefined, argv);
  return word === undefined ? [] : [word];
}

function withoutSubcommand({ spec, word }: NoSubcommand): Error {
  const names = (spec.children ?? []).map((child) => child.name);
  const see = `see: steno ${spec.name} --help`;
  if (word === undefined) return usage(`${spec.name} requires one of: ${names.join(', ')}`, see);
  return usage(`unknown command 'steno ${spec.name} ${word}'`, subcommandHint(spec, word, see));
}

/** Commander's error as one line of ours and a hint. */
function explainLine(error: WrongLine, argv: readonly string[], commands: readonly Command[]): Error {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const path = pathOf(argv, commands);
  const see = `see: ${['steno', ...path.map(({ name }) => name), '--help'].join(' ')}`;
  const wrong = /'([^']*)'/.exec(first)?.[1] ?? '';
  if (error.code === 'commander.unknownCommand') return unknownCommand(wrong, commands);
  if (error.code === 'commander.unknownOption') return unknownOption(wrong, { path, argv, commands }, see);
  if (error.code === 'commander.excessArguments') return excessArguments(path, argv, see);
  if (error.code === 'commander.missingArgument') return missingArgument(path, wrong, see);
  if (error.code === 'commander.optionMissingArgument')
    return usage(`${/--[\w-]+/.exec(wrong)?.[0] ?? wrong} requires a value: ${wrong}`, see);
  const guess = /\(Did you mean (?:one of )?(.*?)\?\)/.exec(rest.join(' '))?.[1];
  return usage(first, guess ? `did you mean ${guess}?` : see);
}

export function unknownCommand(word: string, commands: readonly Command[]): StenoError {
  return usage(`unknown command '${word}'`, commandHint(word, commands));
}

function commandHint(word: string, commands: readonly Command[]): string {
  const list = 'see: steno --help';
  if (/^[a-z]+:\/\//i.test(word)) return `to order it: steno order ${quotedWord(word)} --sku TRANS14`;
  if (/^\d+$/.test(word)) return `to see a file: steno file ${word}; ${list}`;
  if (/\.(csv|jsonl?|txt)$/i.test(word))
    return `to order from a manifest: steno order --from ${shellWord(word)}; ${list}`;
  if (word.toLowerCase() === 'version') return `run: steno --version; ${list}`;
  if (word.toLowerCase() === 'update' || word.toLowerCase() === 'self-update')
    return 'for a file: steno upgrade <id> --sku UPGRD2; to update steno itself, install it again';
  const known = commands.find(({ name }) => name === (commandFor(word) ?? ''));
  if (known) return `did you mean ${known.name}? run: ${usageOf([known])}; ${list}`;
  const parent = commands.find(({ children }) => children?.some(({ name }) => name === word));
  const child = parent?.children?.find(({ name }) => name === word);
  if (parent && child)
    return `did you mean ${parent.name} ${word}? run: ${usageOf([parent, child])}; ${list}`;
  return didYouMean(word, namesOf(commands), list);
}

/** `steno file <id…>` */
const usageOf = (path: readonly Command[]): string => {
  const args = (path.at(-1)?.args ?? []).map(({ name }) => name.replace(/^\[(.*)\]$/, '<$1>'));
  const more = path[0]?.name === 'order' ? ['--sku TRANS14'] : [];
  return ['steno', ...path.map(({ name }) => name), ...args, ...more].join(' ');
};

const namesOf = (specs: readonly Command[]): string[] =>
  specs.flatMap(({ name, alias }) => (alias ? [name, alias] : [name]));

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

const takesValue = (flag: string, spec: Command | undefined): boolean =>
  optionsOf(spec).some((option) => option.takesValue && longName(option) === flag);

/** Without case, dashes and underscores: `--dryRun`, `--dry_run` and `--dryrun` are `--dry-run`. */
const bare = (flag: string): string => flag.toLowerCase().replace(/[-_]/g, '');

/** A line that was not understood, with the commands that it names and all that there are. */
interface Line {
  readonly path: readonly Command[];
  readonly argv: readonly string[];
  readonly commands: readonly Command[];
}

function unknownOption(given: string, { path, argv, commands }: Line, see: string): StenoError {
  const [flag = ''] = given.split('=');
  const spec = path.at(-1);
  const known = new Set(optionsOf(spec).map(longName));
  const message = `unknown option '${given}'`;
  if (/^-\d/.test(given)) return usage(message, 'ids and amounts do not start with a hyphen');
  if (known.has(flag) && given !== flag && !takesValue(flag, spec))
    return usage(message, `${flag} takes no value: write ${flag}, or leave it out`);
  if (spec && known.has(flag)) return usage(message, misplacedHint(flag, path, argv));
  const same = [...known].find((each) => bare(each) === bare(flag));
  if (same) return usage(message, `did you mean ${same}?`);
  const hints = [belongsHint(flag, path, commands), nearHint(flag, known)].filter(
    (hint) => hint !== undefined,
  );
  return usage(message, hints.length ? hints.join('; ') : see);
}

/** The flags of a command follow it. */
function misplacedHint(flag: string, path: readonly Command[], argv: readonly string[]): string {
  const at = argv.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  const next = argv[at + 1];
  const value = takesValue(flag, path.at(-1)) && next !== undefined && argv[at] === flag ? ` ${next}` : '';
  return `write it after the command: steno ${path.map(({ name }) => name).join(' ')} … ${argv[at]}${value}`;
}

function belongsHint(
  flag: string,
  path: readonly Command[],
  commands: readonly Command[],
): string | undefined {
  const owners = commands
    .flatMap((spec) => [[spec], ...(spec.children ?? []).map((child) => [spec, child])])
    .filter((each) => Object.values(each.at(-1)?.options ?? {}).some((option) => longName(option) === flag))
    .map((each) => each.map(({ name }) => name).join(' '));
  if (owners.length === 0) return undefined;
  const [first = ''] = owners;
  if (path.length === 0)
    return `${flag} belongs to ${owners.join(', ')}: write it after the command, as in steno ${first} … ${flag}`;
  return `${flag} belongs to ${owners.join(', ')}`;
}

function nearHint(flag: string, known: ReadonlySet<string>): string | undefined {
  const names = [...known].map((each) => each.slice(2));
  const near = nearest(flag.replace(/^-+/, ''), names);
  const meant = flagFor(flag, known) ?? (near && `--${near}`);
  return meant && `did you mean ${meant}?`;
}

function excessArguments(path: readonly Command[], argv: readonly string[], see: string): StenoError {
  const spec = path.at(-1);
  const word = firstArgument(spec, argv) ?? '';
  const names = path.map(({ name }) => name).join(' ');
  // A key in the command line must not be repeated.
  if (spec?.name === 'login') return usage('login takes no arguments', loginHint(word));
  if (spec?.children?.length && path.length === 1) {
    return usage(`unknown command 'steno ${names} ${word}'`, subcommandHint(spec, word, see));
  }
  if (spec?.name === 'files' && word)
    return usage('files takes no arguments', `to see one file: steno file ${word}; ${see}`);
  const flag = `--${word}`;
  const meant = optionsOf(spec).some((option) => longName(option) === flag) ? `did you mean ${flag}? ` : '';
  return usage(
    `${names || 'steno'} takes ${argumentCount(spec)}`,
    meant + (meant ? see : (quoteHint(argv, spec) ?? see)),
  );
}

/** Words after a flag that takes one value, such as `--exec jq .audiofile`. */
function quoteHint(argv: readonly string[], spec: Command | undefined): string | undefined {
  const at = argv.findLastIndex((word) => takesText(word, spec));
  const words = argv.slice(at + 1);
  const isValue = at >= 0 && words.length > 1 && !words[1]?.startsWith('-');
  return isValue ? `quote a value with blanks: ${argv[at]} "${words.join(' ')}"` : undefined;
}

const takesText = (flag: string, spec: Command | undefined): boolean =>
  optionsOf(spec).some((option) => option.takesValue && !option.values && longName(option) === flag);

/** `no arguments`, `one argument: <url>` */
function argumentCount(spec: Command | undefined): string {
  const names = (spec?.args ?? []).map(({ name }) => name);
  if (names.length === 0) return 'no arguments';
  return names.length === 1 ? `one argument: ${names[0]}` : `${names.length} arguments: ${names.join(' ')}`;
}

/** The first word after the command that is neither a flag nor the value of one. */
function firstArgument(spec: Command | undefined, argv: readonly string[]): string | undefined {
  const at = argv.findIndex((word) => word === spec?.name || word === spec?.alias);
  const words = argv.slice(at + 1);
  return words.find((word, index) => !word.startsWith('-') && !takesValue(words[index - 1] ?? '', spec));
}

/** What a word after a command with subcommands is most likely to mean. */
function subcommandHint(spec: Command, word: string, see: string): string {
  const children = namesOf(spec.children ?? []);
  const meant = argumentOf(spec, word) ?? subcommandFor(spec.name, word);
  if (meant && children.includes(meant.split(' ')[0] ?? ''))
    return `did you mean ${meant.split(' ')[0]}? run: steno ${spec.name} ${meant}; ${see}`;
  if (spec.run && word.toLowerCase() === 'list') return `run: steno ${spec.name}; ${see}`;
  return didYouMean(word, children, see);
}

/** An argument in the place of the subcommand that takes it. */
function argumentOf({ name }: Command, word: string): string | undefined {
  if (name === 'events' && /^\d+$/.test(word)) return `show ${word}`;
  if (name === 'attempts' && /^\d+$/.test(word)) return `settle ${word}`;
  if (name === 'webhook' && /^https?:\/\//i.test(word)) return `set ${shellWord(word)}`;
  if (name === 'webhook' && /^[A-Z]+_[A-Z_]+$/.test(word)) return `test ${word}`;
  if (name === 'budget' && /^\d[^/]*\/\w+$/.test(word)) return `set ${shellWord(word)}`;
  if (name === 'config' && settingNames.some((each) => each === word)) return `get ${word}`;
  return undefined;
}

const loginHint = (word: string): string =>
  /^https?:\/\//i.test(word)
    ? `give the address with a flag: steno login --base-url ${shellWord(word)}`
    : 'other users can see the command line: run steno login, and paste the key when asked';

function missingArgument(path: readonly Command[], missing: string, see: string): StenoError {
  const spec = path.at(-1);
  const wanted = spec?.args?.find(({ name }) => bareName(name) === missing);
  const names = path.map(({ name }) => name).join(' ');
  return usage(`${names} requires ${wanted?.name ?? missing}`, missingHint(spec, wanted, see));
}

function missingHint(spec: Command | undefined, wanted: Argument | undefined, see: string): string {
  if (spec?.name === 'api') return `write it like: steno api GET /prepay_balance; ${see}`;
  if (wanted?.values === 'audiofile') return `list your files: steno files; ${see}`;
  if (wanted?.values === 'order') return `list your orders: steno files; ${see}`;
  return see;
}

/** Dashes that look like a hyphen. */
const otherDash = /^-?[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/;
const oneDash = /^-[a-z][a-z-]+/i;

/** Throws where a word is a flag that was written in another way: it would be taken for an argument or a value. */
export function checkPasted(argv: readonly string[], groups: readonly Group[]): void {
  const find = finder(commandsOf(groups));
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  for (const [at, word] of words.entries()) {
    if (otherDash.test(word) || oneDash.test(word)) checkDash(word, words[at - 1] ?? '', find);
    else if (word.length > 1 && (word.endsWith(',') || word.startsWith(','))) checkComma(words, at, find);
  }
}

function checkDash(word: string, before: string, find: FindOption): void {
  const [name = ''] = word.replace(/^[-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+/, '').split('=');
  const flag = `--${name.toLowerCase()}`;
  const isValue = find(before)?.takesValue === true;
  if (isValue || !find(flag)) return;
  throw otherDash.test(word)
    ? usage(`'${word}' starts with a dash that is not a hyphen`, `type it as ${flag}`)
    : usage(`unknown option '${word}'`, `did you mean ${flag}? It has two dashes`);
}

/** `--sku TRANS14, TSTMP1` and `--sku TRANS14 ,TSTMP1` */
function checkComma(words: readonly string[], at: number, find: FindOption): void {
  const word = words[at] ?? '';
  const [first, second] = word.endsWith(',') ? [at, at + 1] : [at - 1, at];
  const flag = words[first - 1] ?? '';
  const next = words[second];
  const option = find(flag);
  if (!option?.flags.includes('…') || next === undefined || next.startsWith('-')) return;
  const value = (words[first] ?? '').replace(/,+$/, '');
  if (isArgument(next.replace(/^,+/, ''), value, option))
    // What follows may be a link with a signature, which is not shown.
    throw usage(
      `there is a comma after '${value}', but no value of ${flag} follows it`,
      `leave out the comma: ${flag} ${value}`,
    );
  const joined = `${words[first]},${next}`.replace(/,+/g, ',').replace(/,$/, '');
  throw usage(
    `the value of ${flag} has a space next to its comma: '${words[first]}' and '${next}'`,
    `leave out the space: ${flag} ${joined}`,
  );
}

/** The values of a list resemble each other: a URL, a path or an id behind another value is an argument of the command. */
function isArgument(word: string, value: string, { values }: Option): boolean {
  if (Array.isArray(values) && /^\d+$/.test(word)) return true;
  return /[\\/.]/.test(word) && !/[\\/.]/.test(value);
}

/** The option of a name, of any command. */
type FindOption = (flag: string) => Option | undefined;

function finder(commands: readonly Command[]): FindOption {
  const all = commands.flatMap((spec) => [spec, ...(spec.children ?? [])]).flatMap(optionsOf);
  return (flag) => (flag.startsWith('--') ? all.find((option) => longName(option) === flag) : undefined);
}
