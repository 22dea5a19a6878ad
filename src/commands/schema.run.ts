import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { usage } from '../lib/errors.ts';
import { formatJson, toJson } from '../lib/json.ts';
import { didYouMean } from '../lib/suggest.ts';
import { schemaNames, schemaOf } from '../views/outputs.ts';

interface SchemaOptions {
  readonly dryRun: boolean;
}

export async function run(
  { out, commandTree }: Context,
  { args, options }: Input<SchemaOptions>,
): Promise<void> {
  if (args.length === 0 && !options.dryRun)
    return out.show({
      json: toJson(schemaNames.map((schema) => ({ schema }))),
      columns: [{ name: 'schema', kind: 'id' }],
      rows: schemaNames.map((name) => [name]),
      quiet: schemaNames,
    });
  const words = options.dryRun ? [...args, '--dry-run'] : args;
  const name = words.join(' ').replace(/^steno /, '');
  const alias = (await commandTree()).children.find(({ names }) => names.includes(name))?.names[0];
  const found = schemaOf(name) ?? schemaOf(alias ?? '');
  if (!found) throw usage(`no schema for '${name}'`, hintFor(name));
  out.stdout.write(`${formatJson(toJson(found))}\n`);
}

/** Of a command that has others below it, those are named. */
function hintFor(name: string): string {
  const below = schemaNames.filter((each) => each.startsWith(`${name} `));
  if (below.length) return `choose from: ${below.join(', ')}`;
  return didYouMean(name, schemaNames, 'which there are: steno schema');
}
