/** The interface of the program, for programs. */
import { type CommandEntry, effects, type OptionEntry } from '../lib/command-entry.ts';
import { type Json, toJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import {
  arrayOf,
  boolean,
  described,
  integer,
  maybeText,
  object,
  oneOf,
  type Schema,
  text,
} from './record.ts';

const option = object({
  flags: described('its spellings, the long one first or last', arrayOf(text)),
  help: text,
  type: described('flag: it takes no value', oneOf('flag', 'value')),
  value: described('what its value is called', maybeText),
  values: described('the values it may have, where they are fixed', arrayOf(text)),
  default: maybeText,
  repeatable: boolean,
  env: described('the environment variable that it replaces', maybeText),
});

const entry = object({
  command: described('its name after steno', text),
  alias: maybeText,
  group: text,
  summary: text,
  about: maybeText,
  effect: described(
    'what it may change beside what the ledger knows: nothing, something on this machine, something of the account or of others, or it may cost money or give some back',
    oneOf(...effects),
  ),
  costs_money: described('whether it may', boolean),
  safe_to_repeat: described('whether running it twice does no more than once', boolean),
  arguments: arrayOf(
    object({
      name: text,
      help: text,
      required: boolean,
      repeatable: boolean,
      values: described('where they are fixed', arrayOf(text)),
    }),
  ),
  options: arrayOf(option),
  exit_codes: arrayOf(object({ code: integer, name: text })),
  examples: arrayOf(object({ line: text, what: text })),
  schema: described('for steno schema; null where it prints no JSON', maybeText),
});

export const commandsSchema: Schema = object({
  global_options: described('that every command takes, before or after its name', arrayOf(option)),
  commands: arrayOf(entry),
});

const optionJson = ({ flags, help, value, values, default: initial, repeatable, env }: OptionEntry): Json =>
  toJson({
    ...{ flags, help, type: value ? 'value' : 'flag', value: value || null, values },
    ...{ default: initial || null, repeatable, env: env || null },
  });

const entryJson = (each: CommandEntry, hasSchema: boolean): Json =>
  toJson({
    command: each.command,
    alias: each.alias || null,
    group: each.group,
    summary: each.summary,
    about: each.about || null,
    effect: each.effect,
    costs_money: each.effect === 'money',
    safe_to_repeat: each.safeToRepeat,
    arguments: each.args.map((argument) => ({ ...argument })),
    options: each.options.map((one) => optionJson(one) as never),
    exit_codes: each.exits.map((exit) => ({ ...exit })),
    examples: each.examples.map(([line, what]) => ({ line, what })),
    schema: hasSchema ? each.command : null,
  });

interface Index {
  readonly commands: readonly CommandEntry[];
  readonly globals: readonly OptionEntry[];
}

export const commandsView = ({ commands, globals }: Index, hasSchema: (path: string) => boolean): View => ({
  json: new Map<string, Json>([
    ['global_options', globals.map(optionJson)],
    ['commands', commands.map((each) => entryJson(each, hasSchema(each.command)))],
  ]),
  columns: [
    { name: 'command', kind: 'id' },
    { name: 'effect', importance: 50, uncut: true },
    { name: 'summary', importance: 90 },
  ],
  rows: commands.map(({ command, effect, summary }) => [command, effect, summary]),
  quiet: commands.map(({ command }) => command),
});
