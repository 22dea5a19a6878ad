import { shells } from '../completion/model.ts';
import { completionScript } from '../completion/shells.ts';
import { usage } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import { command } from '../spec/command.ts';

export const completion = command({
  name: 'completion',
  summary: 'Print a shell completion script',
  about:
    'Prints the completion script of a shell. It completes commands, flags, SKUs and formats, and your own files, ' +
    'orders, invoices, events and profiles. For the line that loads it in every new shell: steno help shells.',
  args: [{ name: '<shell>', help: 'shell that will run the script', values: shells }],
  examples: [
    ['eval "$(steno completion bash)"', 'for this session only'],
    ['steno completion powershell | Out-String | Invoke-Expression', 'for this PowerShell session only'],
  ],
  refuses: { '--json': 'completion prints a script', '--csv': 'completion prints a script' },
  effect: 'read',
  exits: [],
  async run(context, { args: [name = ''] }) {
    const shell = shells.find((each) => each === name);
    if (!shell)
      throw usage(
        `no completion for '${name}'`,
        didYouMean(name, shells, `choose from: ${shells.join(', ')}`),
      );
    context.out.stdout.write(completionScript(shell));
  },
});
