import { command } from '../cli/command-spec.ts';
import { shells } from '../completion/model.ts';

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
  refuses: { '--json': 'it prints a script', '--csv': 'it prints a script' },
  load: async () => (await import('./completion.run.ts')).run,
});
