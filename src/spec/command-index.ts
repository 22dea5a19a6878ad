/** The whole interface for programs, read from the specs. */
import { effects } from '../lib/effects.ts';
import { exitCodes, type Kind } from '../lib/errors.ts';
import type { Json } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import * as a from '../views/fields.ts';
import { type CommandOutput, RecordType } from '../views/record.ts';
import * as is from '../views/schema.ts';
import type { Argument, Command, Group } from './command.ts';
import { bareName, flagNames, type Option, valueName } from './options.ts';

/** Beside 0: any command may fail, be called wrongly or be interrupted. */
const EVERY_EXIT: readonly Kind[] = ['failed', 'usage', 'interrupted'];

interface Runnable {
  /** `events show` */
  readonly path: string;
  readonly group: string;
  readonly spec: Command;
}

/** Every command that can be run, in the order of the help. */
export const runnables = (groups: readonly Group[]): Runnable[] =>
  groups.flatMap(({ title, commands }) => commands.flatMap((spec) => runnableBelow(spec, [], title)));

function runnableBelow(spec: Command, above: readonly string[], group: string): Runnable[] {
  const path = [...above, spec.name];
  const below = (spec.children ?? []).flatMap((child) => runnableBelow(child, path, group));
  return spec.run ? [{ path: path.join(' '), group, spec }, ...below] : below;
}

/** What every command prints, by its path: `events show`, `order --dry-run`. */
export const outputsOf = (groups: readonly Group[]): ReadonlyMap<string, CommandOutput> =>
  new Map(
    runnables(groups).flatMap(({ path, spec: { output, dryRunOutput } }) => [
      ...(output ? [[path, output()] as const] : []),
      ...(dryRunOutput ? [[`${path} --dry-run`, dryRunOutput()] as const] : []),
    ]),
  );

const json = { cell: false } as const;

/** Those that are known; others come from the ledger, or are paths. */
const listed = ({ values }: Pick<Option, 'values'>): readonly string[] =>
  Array.isArray(values) ? values : [];

const optionRecord = new RecordType<Option>([
  a.list('flags', 'all spellings; the long one is first or last', flagNames),
  a.word('help', 'what it does', 'help'),
  a.word('type', 'flag if it takes no value', (option) => (valueName(option) ? 'value' : 'flag'), {
    schema: is.oneOf('flag', 'value'),
  }),
  a.text('value', 'name of the value', valueName),
  a.list('values', 'allowed values, if fixed', listed),
  a.text('default', 'value if it is not given', 'shownDefault'),
  a.flag('repeatable', 'whether it may be given several times', ({ initial }) => Array.isArray(initial)),
  a.text('env', 'environment variable that the option overrides', 'env'),
  a.text('effect', 'what the option adds to the effect of its command', 'effect', {
    schema: is.nullable(is.oneOf(...effects)),
  }),
]);

const argumentRecord = new RecordType<Argument>([
  a.word('name', 'name of the argument', ({ name }) => bareName(name)),
  a.word('help', 'what it is', 'help'),
  a.flag('required', 'whether it must be given', ({ name }) => name.startsWith('<')),
  a.flag('repeatable', 'whether several may be given', ({ name }) => name.includes('…')),
  a.list('values', 'allowed values, if fixed', ({ values }) => listed({ values })),
]);

const EFFECT =
  'what the command may do: read (ask the service, update what the ledger knows of it); local (change files, ' +
  'settings or the ledger); exec (run a command); account (change the webhook, send events); money (cost or ' +
  'return money); flags may add to it';

const commandRecord = new RecordType<Runnable>([
  a.word('command', 'command name, without steno', 'path', { kind: 'id' }),
  a.text('alias', 'other name', ({ spec }) => spec.alias, json),
  a.word('group', 'heading under which help lists it', 'group', json),
  a.word('effect', EFFECT, ({ spec }) => spec.effect ?? 'read', {
    ...{ importance: 50, uncut: true, schema: is.oneOf(...effects) },
  }),
  a.word('summary', 'what the command does', ({ spec }) => spec.summary, { importance: 90 }),
  a.text('about', 'the same in full', ({ spec }) => spec.about, json),
  a.flag('costs_money', 'whether it may cost or return money', ({ spec }) => spec.effect === 'money', json),
  a.flag(
    'safe_to_repeat',
    'running it twice does what running it once does',
    ({ spec }) => !spec.once && spec.effect !== 'money',
    json,
  ),
  a.records('arguments', 'arguments, in order', argumentRecord, ({ spec }) => spec.args ?? []),
  a.records('options', 'options of its own', optionRecord, ({ spec }) => Object.values(spec.options ?? {})),
  a.plain(
    'exit_codes',
    'exit codes',
    is.arrayOf(is.object({ code: is.integer, name: is.text })),
    ({ spec }) =>
      (['ok', ...EVERY_EXIT, ...(spec.exits ?? [])] as const)
        .map((name) => ({ code: exitCodes[name].code, name }))
        .sort((one, other) => one.code - other.code),
  ),
  a.plain('examples', 'lines to paste', is.arrayOf(is.object({ line: is.text, what: is.text })), ({ spec }) =>
    spec.examples.map(([line, what]) => ({ line, what })),
  ),
  a.text(
    'schema',
    'name for steno schema; null if the command prints no JSON',
    ({ path, spec }) => (spec.output ? path : null),
    json,
  ),
]);

interface Index {
  readonly globals: readonly Option[];
  readonly commands: readonly Runnable[];
}

const indexRecord = new RecordType<Index>([
  a.records('global_options', 'options of every command', optionRecord, 'globals'),
  a.records('commands', 'every command', commandRecord, 'commands'),
]);

export const commandsOutput = () => ({ ...commandRecord.printed, schema: indexRecord.schema });

export const commandsView = (index: Index): View =>
  commandRecord.view(index.commands, { json: (): Json => indexRecord.json(index) });
