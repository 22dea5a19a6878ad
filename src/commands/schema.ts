import { usage } from '../lib/errors.ts';
import { formatJson, toJson } from '../lib/json.ts';
import { didYouMean } from '../lib/text.ts';
import { command } from '../spec/command.ts';
import { outputsOf } from '../spec/command-index.ts';
import { flag } from '../spec/options.ts';
import * as a from '../views/fields.ts';
import {
  type CommandOutput,
  errorMembers,
  optionalErrorMembers,
  printed,
  RecordType,
} from '../views/record.ts';
import { anyOf, arrayOf, described, object, type Schema, text } from '../views/schema.ts';

const schemaName = new RecordType<string>([
  a.word('schema', 'command name, or error or warning', (name: string) => name, { kind: 'id' }),
]);

export const schema = command({
  name: 'schema',
  summary: "Print the JSON schema of a command's output",
  about:
    "Prints the JSON schema (draft 2020-12) of a command's --json output. The schemas error and warning describe " +
    'the lines on stderr. Without a name, lists all schemas. Works offline.',
  args: [{ name: '[command…]', help: 'command name, or error or warning' }],
  options: { dryRun: flag('--dry-run', 'the schema of order --dry-run') },
  examples: [
    ['steno schema files', 'schema of steno files --json'],
    ['steno schema events show > event.json', 'schema of a subcommand'],
    ['steno schema', 'list all schemas'],
    ['steno schema order --dry-run', 'schema of steno order --dry-run --json'],
  ],
  effect: 'read',
  exits: [],
  output: () => printed(anyOf({ type: 'object' }, arrayOf(schemaName.schema))),
  async run({ out }, { args, options }, loadGroups) {
    const groups = await loadGroups();
    const outputs = outputsOf(groups);
    const names = [...outputs.keys(), ...Object.keys(messages)];
    if (args.length === 0 && !options.dryRun) return out.show(schemaName.view(names));
    const words = options.dryRun ? [...args, '--dry-run'] : args;
    const name = words.join(' ').replace(/^steno /, '');
    const commands = groups.flatMap((group) => group.commands);
    const named = commands.find(({ alias }) => alias === name)?.name ?? name;
    const found = schemaOf(named, outputs);
    if (!found) throw usage(`no schema for '${name}'`, hintFor(name, names));
    out.stdout.write(`${formatJson(toJson(found))}\n`);
  },
});

/** Of a command that has others below it, those are named. */
function hintFor(name: string, known: readonly string[]): string {
  const below = known.filter((each) => each.startsWith(`${name} `));
  if (below.length) return `choose from: ${below.join(', ')}`;
  return didYouMean(name, known, 'list them: steno schema');
}

const event = described('the full delivery, if it could not be saved', { type: 'object' });

/** What stderr has under --json, a line each. */
export const messages: Readonly<Record<string, Schema>> = {
  error: object({
    error: object(
      {
        ...errorMembers,
        failures: described(
          'in a command for several items, each one that failed',
          arrayOf(object({ what: text, ...errorMembers }, optionalErrorMembers)),
        ),
      },
      [...optionalErrorMembers, 'failures'],
    ),
  }),
  warning: object({ warning: object({ message: text, hint: text, event }, ['hint', 'event']) }),
};

/** The schema of a command, of `error` or of `warning`; `outputs` has those of all commands. */
export function schemaOf(name: string, outputs: ReadonlyMap<string, CommandOutput>): Schema | undefined {
  const output = outputs.get(name);
  const schema = output?.schema ?? (Object.hasOwn(messages, name) ? messages[name] : undefined);
  if (!schema) return undefined;
  const title = output
    ? `steno ${name} --json${output.lines ? ', each line' : ''}`
    : `a line of stderr with --json`;
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title, ...schema };
}
