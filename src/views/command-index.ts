/** The interface of the program, for programs. */
import { type CommandEntry, effects, type OptionEntry } from '../lib/command-entry.ts';
import type { Json } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import * as a from './fields.ts';
import { RecordType } from './record.ts';
import * as is from './schema.ts';

const json = { cell: false } as const;

const optionRecord = new RecordType<OptionEntry>([
  a.list('flags', 'all spellings; the long one is first or last', 'flags'),
  a.word('help', 'what it does', 'help'),
  a.word('type', 'flag if it takes no value', ({ value }) => (value ? 'value' : 'flag'), {
    schema: is.oneOf('flag', 'value'),
  }),
  a.text('value', 'name of the value', 'value'),
  a.list('values', 'allowed values, if fixed', 'values'),
  a.text('default', 'value if it is not given', 'default'),
  a.flag('repeatable', 'whether it may be given several times', 'repeatable'),
  a.text('env', 'environment variable that the option overrides', 'env'),
  a.text('effect', 'what the option adds to the effect of its command', 'effect', {
    schema: is.nullable(is.oneOf(...effects)),
  }),
]);

const argumentRecord = new RecordType<CommandEntry['args'][number]>([
  a.word('name', 'name of the argument', 'name'),
  a.word('help', 'what it is', 'help'),
  a.flag('required', 'whether it must be given', 'required'),
  a.flag('repeatable', 'whether several may be given', 'repeatable'),
  a.list('values', 'allowed values, if fixed', 'values'),
]);

const EFFECT =
  'what the command may do: read (ask the service, update what the ledger knows of it); local (change files, ' +
  'settings or the ledger); exec (run a command); account (change the webhook, send events); money (cost or ' +
  'return money); flags may add to it';

const commandRecord = new RecordType<CommandEntry & { readonly hasSchema: boolean }>([
  a.word('command', 'command name, without steno', 'command', { kind: 'id' }),
  a.text('alias', 'other name', 'alias', json),
  a.word('group', 'heading under which help lists it', 'group', json),
  a.word('effect', EFFECT, 'effect', { importance: 50, uncut: true, schema: is.oneOf(...effects) }),
  a.word('summary', 'what the command does', 'summary', { importance: 90 }),
  a.text('about', 'the same in full', 'about', json),
  a.flag('costs_money', 'whether it may cost or return money', ({ effect }) => effect === 'money', json),
  a.flag('safe_to_repeat', 'running it twice does what running it once does', 'safeToRepeat', json),
  a.records('arguments', 'arguments, in order', argumentRecord, 'args'),
  a.records('options', 'options of its own', optionRecord, 'options'),
  a.plain(
    'exit_codes',
    'exit codes',
    is.arrayOf(is.object({ code: is.integer, name: is.text })),
    ({ exits }) => exits.map((exit) => ({ ...exit })),
  ),
  a.plain(
    'examples',
    'lines to paste',
    is.arrayOf(is.object({ line: is.text, what: is.text })),
    ({ examples }) => examples.map(([line, what]) => ({ line, what })),
  ),
  a.text(
    'schema',
    'name for steno schema; null if the command prints no JSON',
    ({ command, hasSchema }) => (hasSchema ? command : null),
    json,
  ),
]);

const indexRecord = new RecordType<{
  readonly globals: readonly OptionEntry[];
  readonly commands: ReadonlyArray<CommandEntry & { readonly hasSchema: boolean }>;
}>([
  a.records('global_options', 'options of every command', optionRecord, 'globals'),
  a.records('commands', 'every command', commandRecord, 'commands'),
]);

export const commandsOutput = () => ({ ...commandRecord.printed, schema: indexRecord.schema });

export function commandsView(
  entries: readonly CommandEntry[],
  globals: readonly OptionEntry[],
  hasSchema: (path: string) => boolean,
): View {
  const commands = entries.map((each) => ({ ...each, hasSchema: hasSchema(each.command) }));
  return commandRecord.view(commands, { json: (): Json => indexRecord.json({ globals, commands }) });
}
