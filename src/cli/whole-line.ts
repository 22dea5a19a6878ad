/** Reads a command line that names no command, asks for help, or is wrong: with all commands, and with advice. */
import { usage } from '../lib/errors.ts';
import { globalOptions } from '../spec/global-options.ts';
import type { Option } from '../spec/options.ts';
import { commands } from './command-list.ts';
import { findCommands } from './help-page.ts';
import { type Help, NoSubcommand, type Printed, type Run, readLine, WrongLine } from './program.ts';
import { explainLine, subcommandHint } from './wrong-line.ts';

export function parseWholly(argv: readonly string[]): Run | Printed | Help {
  try {
    const { run, help, text } = readLine(argv, commands, true);
    if (run) return run;
    return text ? { text } : { help: help ? pageWords(argv, help) : [] };
  } catch (error) {
    if (error instanceof NoSubcommand) throw withoutSubcommand(error);
    throw error instanceof WrongLine ? explainLine(error, argv) : error;
  }
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

function withoutSubcommand({ spec, word }: NoSubcommand): Error {
  const names = (spec.children ?? []).map((child) => child.name);
  const see = `see: steno ${spec.name} --help`;
  if (word === undefined) return usage(`steno ${spec.name} requires one of: ${names.join(', ')}`, see);
  return usage(`unknown command 'steno ${spec.name} ${word}'`, subcommandHint(spec, word, see));
}
