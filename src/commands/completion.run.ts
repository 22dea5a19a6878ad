import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { shells } from '../completion/model.ts';
import { completionScript } from '../completion/script.ts';
import { usage } from '../lib/errors.ts';
import { didYouMean } from '../lib/suggest.ts';

export async function run(context: Context, { args: [name = ''] }: Input): Promise<void> {
  const shell = shells.find((each) => each === name);
  if (!shell)
    throw usage(`no completion for '${name}'`, didYouMean(name, shells, `choose from: ${shells.join(', ')}`));
  context.out.write(completionScript(shell, context.commandTree()));
}
