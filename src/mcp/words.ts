/** Errors in the words of a tool: an assistant has arguments, and neither flags nor a shell. */
import { isObject, type Json } from '../lib/json.ts';

const FLAG = /(?<![\w'"-])--([a-z][a-z-]*)/g;
/** A flag that is no argument of a tool. */
const OTHER_FLAG =
  /(?<![\w'"-])--(?!(?:state|since|until|order|tag|feed|file|speaker|event|limit|by|rules|context|sku|notes)\b)/;

/** Hints with a command line, and what an assistant can do instead. */
const instead: ReadonlyArray<readonly [line: RegExp, hint: string]> = [
  [/steno states/, 'write a state as files shows it, such as Delivered or Processing'],
  [/steno (?:login|config set api-key)/, 'ask the person to log in: steno has no key'],
  [/steno transcript/, 'read it with the tool transcript, or ask the person to download it'],
  [/steno search/, 'add a word to find, in words'],
  [/steno quote/, 'give the words of the quotation as text'],
  [/--minutes/, 'give minutes, the length of each of urls'],
  [/price\.\S+/, 'ask the person to tell steno the price'],
];

const isForShell = (hint: string): boolean => /\bsteno [a-z]|\bstdin\b/.test(hint) || OTHER_FLAG.test(hint);

const inArguments = (text: string): string =>
  text
    .replace(/\bstdin, line (\d+)/g, 'element $1 of urls')
    .replace(/--(?:from|no-ledger|json)\b[= ]?-?/g, '')
    .replace(FLAG, (_, name) => name.replaceAll('-', ' '));

function hintOf(hint: string): string {
  const parts = hint.split(/; | {3}/).map((each) => {
    const part = each.replace(/, or (?:use|add|raise) --.*/, '');
    if (!isForShell(part)) return inArguments(part);
    const [, other = 'ask the person, who can settle this in a terminal'] =
      instead.find(([line]) => line.test(part)) ?? [];
    return other;
  });
  return [...new Set(parts)].join('; ');
}

/** An error or a warning of a command, and those of its parts. */
export function inToolWords(json: Json): Json {
  if (Array.isArray(json)) return json.map(inToolWords);
  if (!isObject(json)) return json;
  const members = [...json].map(([name, value]): [string, Json] => {
    if (typeof value !== 'string') return [name, inToolWords(value)];
    if (name === 'hint') return [name, hintOf(value)];
    return [name, name === 'message' ? inArguments(value) : value];
  });
  return new Map(members);
}
