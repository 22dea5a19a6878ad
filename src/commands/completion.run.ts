import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { apply, type Change, kindOf, planInstall, planUninstall } from '../completion/install.ts';
import { shells } from '../completion/model.ts';
import { chooseShell, type Place, placeOf, thisMachine } from '../completion/places.ts';
import { completionScript } from '../completion/shells.ts';
import { usage } from '../lib/errors.ts';
import { didYouMean } from '../lib/suggest.ts';
import { changesView } from '../views/completion.ts';

export async function run(context: Context, { args: [name = ''] }: Input): Promise<void> {
  const shell = shells.find((each) => each === name);
  if (!shell)
    throw usage(`no completion for '${name}'`, didYouMean(name, shells, `choose from: ${shells.join(', ')}`));
  context.out.write(completionScript(shell));
}

interface Options {
  readonly dryRun: boolean;
}

export async function install(context: Context, { args: [name], options }: Input<Options>): Promise<void> {
  const { out } = context;
  const machine = thisMachine(context.env);
  const place = placeOf(chooseShell(name, machine), machine);
  const changes = planInstall(place, completionScript(place.shell));
  if (!options.dryRun) apply(changes);
  await out.show(changesView(changes.map((each) => ({ ...each, change: kindOf(each) }))));
  for (const line of notesOf(place, changes, options.dryRun)) out.note(line);
}

function notesOf({ block, now, shell }: Place, changes: readonly Change[], dryRun: boolean): string[] {
  const added = changes.find(({ part }) => part === 'block');
  const shown =
    added && kindOf(added) !== 'unchanged'
      ? [`lines for ${added.path}:`, ...block.map((line) => `  ${line}`)]
      : [];
  if (dryRun) return [...shown, 'nothing was written'];
  const unchanged = changes.every((each) => kindOf(each) === 'unchanged');
  if (unchanged) return [`${shell} has it already`];
  return [...shown, `new shells have it; in this one: ${now}`];
}

export async function uninstall(context: Context, { args: [name], options }: Input<Options>): Promise<void> {
  const { out } = context;
  const machine = thisMachine(context.env);
  const chosen = name === undefined ? shells : [chooseShell(name, machine)];
  const changes = chosen.flatMap((shell) => planUninstall(placeOf(shell, machine)));
  if (!options.dryRun) apply(changes);
  await out.show(changesView(changes.map((each) => ({ ...each, change: kindOf(each) }))));
  if (changes.length === 0) out.note('nothing is installed');
  else if (options.dryRun) out.note('nothing was removed');
}
