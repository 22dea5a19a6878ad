import { command } from '../cli/command-spec.ts';
import { usage } from '../lib/errors.ts';
import { didYouMean } from '../lib/suggest.ts';

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

export const completion = command({
  name: 'completion',
  summary: 'Print the completion script of a shell',
  args: [{ name: '<shell>', help: shells.join(', '), values: shells }],
  examples: [
    ['source <(steno completion bash)', 'in ~/.bashrc'],
    ['steno completion zsh > ~/.zfunc/_steno', 'once, for zsh, with ~/.zfunc in fpath'],
    ['steno completion fish > ~/.config/fish/completions/steno.fish', 'once, for fish'],
    ['steno completion powershell | Out-String | Invoke-Expression', 'in $PROFILE'],
  ],
  async run(context, { args: [name = ''] }) {
    const shell = shells.find((each) => each === name);
    if (!shell)
      throw usage(
        `no completion for '${name}'`,
        didYouMean(name, shells, `choose from: ${shells.join(', ')}`),
      );
    const { completionScript } = await import('../completion/script.ts');
    context.out.write(completionScript(shell, context.commandTree()));
  },
});
