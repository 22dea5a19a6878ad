/** The interface of the program, for programs. */
import { type CommandEntry, effects, type OptionEntry } from '../lib/command-entry.ts';
import type { Json } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import { documentOf } from './record.ts';
import * as is from './schema.ts';

const option = documentOf<OptionEntry>({
  flags: [is.arrayOf(is.text), 'flags', 'all spellings; the long one is first or last'],
  help: [is.text, 'help'],
  type: [is.oneOf('flag', 'value'), ({ value }) => (value ? 'value' : 'flag'), 'flag if it takes no value'],
  value: [is.maybeText, ({ value }) => value || null, 'name of the value'],
  values: [is.arrayOf(is.text), 'values', 'allowed values, if fixed'],
  default: [is.maybeText, (entry) => entry.default || null],
  repeatable: [is.boolean, 'repeatable'],
  env: [is.maybeText, ({ env }) => env || null, 'environment variable that the option overrides'],
  effect: [
    is.nullable(is.oneOf(...effects)),
    ({ effect }) => effect || null,
    'what the option adds to the effect of its command',
  ],
});

const argument = is.object({
  name: is.text,
  help: is.text,
  required: is.boolean,
  repeatable: is.boolean,
  values: is.described('allowed values, if fixed', is.arrayOf(is.text)),
});

const entry = documentOf<CommandEntry & { readonly hasSchema: boolean }>({
  command: [is.text, 'command', 'command name, without steno'],
  alias: [is.maybeText, ({ alias }) => alias || null],
  group: [is.text, 'group'],
  summary: [is.text, 'summary'],
  about: [is.maybeText, ({ about }) => about || null],
  effect: [
    is.oneOf(...effects),
    'effect',
    'what the command may do: read (ask the service, update what the ledger knows of it); local (change files, ' +
      'settings or the ledger); exec (run a command); account (change the webhook, send events); money (cost or ' +
      'return money); flags may add to it',
  ],
  costs_money: [
    is.boolean,
    ({ effect }) => effect === 'money',
    'whether the command may cost or return money',
  ],
  safe_to_repeat: [
    is.boolean,
    'safeToRepeat',
    'whether running it twice has the same effect as running it once',
  ],
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
    'name for steno schema; null if the command prints no JSON',
  ],
});

export const commandsSchema: is.Schema = is.object({
  global_options: is.described(
    'options that every command takes, before or after its name',
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
