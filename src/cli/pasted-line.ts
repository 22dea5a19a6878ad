/** Finds what a document, a chat or a habit made of a command line: other dashes, one dash, blanks after commas. */
import { usage } from '../lib/errors.ts';
import type { Command } from '../spec/command.ts';
import { globalOptions } from '../spec/global-options.ts';
import type { Option } from '../spec/options.ts';
import { commands } from './command-list.ts';
import { longName } from './flag-rules.ts';

/** Dashes that look like a hyphen. */
const otherDash = /^-?[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/;
const oneDash = /^-[a-z][a-z-]+/i;

/** Throws where a word is a flag that was written in another way: it would be taken for an argument or a value. */
export function checkPasted(argv: readonly string[]): void {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  for (const [at, word] of words.entries()) {
    if (otherDash.test(word) || oneDash.test(word)) checkDash(word, words[at - 1] ?? '');
    else if (word.length > 1 && (word.endsWith(',') || word.startsWith(','))) checkComma(words, at);
  }
}

function checkDash(word: string, before: string): void {
  const [name = ''] = word.replace(/^[-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+/, '').split('=');
  const flag = `--${name.toLowerCase()}`;
  const isValue = find(before)?.takesValue === true;
  if (isValue || !find(flag)) return;
  throw otherDash.test(word)
    ? usage(`'${word}' begins with a dash that is not a hyphen, as documents make it`, `type it as ${flag}`)
    : usage(`unknown option '${word}'`, `did you mean ${flag}? It has two dashes`);
}

/** `--sku TRANS14, TSTMP1` and `--sku TRANS14 ,TSTMP1` */
function checkComma(words: readonly string[], at: number): void {
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
      `there is a comma behind '${value}', but what follows it is no value of ${flag}`,
      `leave out the comma: ${flag} ${value}`,
    );
  const joined = `${words[first]},${next}`.replace(/,+/g, ',').replace(/,$/, '');
  throw usage(
    `the value of ${flag} has a blank beside its comma: '${words[first]}' and '${next}'`,
    `leave out the blank: ${flag} ${joined}`,
  );
}

/** The values of a list resemble each other: a URL, a path or an id behind another value is an argument of the command. */
function isArgument(word: string, value: string, { values }: Option): boolean {
  if (Array.isArray(values) && /^\d+$/.test(word)) return true;
  return /[\\/.]/.test(word) && !/[\\/.]/.test(value);
}

/** The option of this name, of any command. */
function find(flag: string): Option | undefined {
  if (!flag.startsWith('--')) return undefined;
  const optionsOf = ({ options = {}, children = [] }: Command): Option[] => [
    ...Object.values(options),
    ...children.flatMap(optionsOf),
  ];
  return [...Object.values<Option>(globalOptions), ...commands.flatMap(optionsOf)].find(
    (option) => longName(option) === flag,
  );
}
