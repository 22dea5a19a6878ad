/** The interface of the program, for programs. */
import { type CommandEntry, effects, type OptionEntry } from '../lib/command-entry.ts';
import type { Json } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import { documentOf } from './record.ts';
import * as is from './schema.ts';

const option = documentOf<OptionEntry>({
  flags: [is.arrayOf(is.text), 'flags', 'its spellings, the long one first or last'],
  help: [is.text, 'help'],
  type: [is.oneOf('flag', 'value'), ({ value }) => (value ? 'value' : 'flag'), 'flag: it takes no value'],
  value: [is.maybeText, ({ value }) => value || null, 'what its value is called'],
  values: [is.arrayOf(is.text), 'values', 'the values it may have, where they are fixed'],
  default: [is.maybeText, (entry) => entry.default || null],
  repeatable: [is.boolean, 'repeatable'],
  env: [is.maybeText, ({ env }) => env || null, 'the environment variable that it replaces'],
});

const argument = is.object({
  name: is.text,
  help: is.text,
  required: is.boolean,
  repeatable: is.boolean,
  values: is.described('where they are fixed', is.arrayOf(is.text)),
});

const entry = documentOf<CommandEntry & { readonly hasSchema: boolean }>({
  command: [is.text, 'command', 'its name after steno'],
  alias: [is.maybeText, ({ alias }) => alias || null],
  group: [is.text, 'group'],
  summary: [is.text, 'summary'],
  about: [is.maybeText, ({ about }) => about || null],
  effect: [
    is.oneOf(...effects),
    'effect',
    'what it may change beside what the ledger knows: nothing, something on this machine, something of the account or of others, or it may cost money or give some back',
  ],
  costs_money: [is.boolean, ({ effect }) => effect === 'money', 'whether it may'],
  safe_to_repeat: [is.boolean, 'safeToRepeat', 'whether running it twice does no more than once'],
  arguments: [is.arrayOf(argument), ({ args }) => args.map((each) => ({ ...each }))],
  options: [is.arrayOf(option.schema), ({ options }) => options.map(option.json)],
  exit_codes: [
    is.arrayOf(is.object({ code: is.integer, name: is.text })),
    ({ exits }) => exits.map((exit) => ({ ...exit })),
  ],
  examples: [
    is.arrayOf(is.object({ line: is.text, what: is.text })),
    ({ examples }) => examples.map(([line, what]) => ({ line, what })),
  ],
  schema: [
    is.maybeText,
    ({ command, hasSchema }) => (hasSchema ? command : null),
    'for steno schema; null where it prints no JSON',
  ],
});

export const commandsSchema: is.Schema = is.object({
  global_options: is.described(
    'that every command takes, before or after its name',
    is.arrayOf(option.schema),
  ),
  commands: is.arrayOf(entry.schema),
});

export const commandsView = (
  commands: readonly CommandEntry[],
  globals: readonly OptionEntry[],
  hasSchema: (path: string) => boolean,
): View => ({
  json: new Map<string, Json>([
    ['global_options', globals.map(option.json)],
    ['commands', commands.map((each) => entry.json({ ...each, hasSchema: hasSchema(each.command) }))],
  ]),
  columns: [
    { name: 'command', kind: 'id' },
    { name: 'effect', importance: 50, uncut: true },
    { name: 'summary', importance: 90 },
  ],
  rows: commands.map(({ command, effect, summary }) => [command, effect, summary]),
  quiet: commands.map(({ command }) => command),
});
