/** The interface of the program, for programs. */
import { type CommandEntry, effects, type OptionEntry } from '../lib/command-entry.ts';
import type { Json } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import {
  arrayOf,
  boolean,
  described,
  documentOf,
  integer,
  maybeText,
  object,
  oneOf,
  type Schema,
  text,
} from './record.ts';

const option = documentOf<OptionEntry>({
  flags: [described('its spellings, the long one first or last', arrayOf(text)), ({ flags }) => flags],
  help: [text, ({ help }) => help],
  type: [
    described('flag: it takes no value', oneOf('flag', 'value')),
    ({ value }) => (value ? 'value' : 'flag'),
  ],
  value: [described('what its value is called', maybeText), ({ value }) => value || null],
  values: [described('the values it may have, where they are fixed', arrayOf(text)), ({ values }) => values],
  default: [maybeText, (entry) => entry.default || null],
  repeatable: [boolean, ({ repeatable }) => repeatable],
  env: [described('the environment variable that it replaces', maybeText), ({ env }) => env || null],
});

const argument = object({
  name: text,
  help: text,
  required: boolean,
  repeatable: boolean,
  values: described('where they are fixed', arrayOf(text)),
});

interface Entry extends CommandEntry {
  readonly hasSchema: boolean;
}

const entry = documentOf<Entry>({
  command: [described('its name after steno', text), ({ command }) => command],
  alias: [maybeText, ({ alias }) => alias || null],
  group: [text, ({ group }) => group],
  summary: [text, ({ summary }) => summary],
  about: [maybeText, ({ about }) => about || null],
  effect: [
    described(
      'what it may change beside what the ledger knows: nothing, something on this machine, something of the account or of others, or it may cost money or give some back',
      oneOf(...effects),
    ),
    ({ effect }) => effect,
  ],
  costs_money: [described('whether it may', boolean), ({ effect }) => effect === 'money'],
  safe_to_repeat: [
    described('whether running it twice does no more than once', boolean),
    ({ safeToRepeat }) => safeToRepeat,
  ],
  arguments: [arrayOf(argument), ({ args }) => args.map((each) => ({ ...each }))],
  options: [arrayOf(option.schema), ({ options }) => options.map(option.json)],
  exit_codes: [
    arrayOf(object({ code: integer, name: text })),
    ({ exits }) => exits.map((exit) => ({ ...exit })),
  ],
  examples: [
    arrayOf(object({ line: text, what: text })),
    ({ examples }) => examples.map(([line, what]) => ({ line, what })),
  ],
  schema: [
    described('for steno schema; null where it prints no JSON', maybeText),
    ({ command, hasSchema }) => (hasSchema ? command : null),
  ],
});

export const commandsSchema: Schema = object({
  global_options: described('that every command takes, before or after its name', arrayOf(option.schema)),
  commands: arrayOf(entry.schema),
});

interface Index {
  readonly commands: readonly CommandEntry[];
  readonly globals: readonly OptionEntry[];
}

export const commandsView = ({ commands, globals }: Index, hasSchema: (path: string) => boolean): View => ({
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
