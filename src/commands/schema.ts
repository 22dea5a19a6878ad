import { command } from '../spec/command.ts';
import { flag } from '../spec/options.ts';

export const schema = command({
  name: 'schema',
  summary: 'Print the JSON schema of what a command prints',
  about:
    'Prints the JSON schema (draft 2020-12) of what a command prints with --json; of error and warning, what stderr ' +
    'has then. Without a name it lists them. Nothing is sent.',
  args: [{ name: '[command…]', help: 'the command, or error, or warning' }],
  options: { dryRun: flag('--dry-run', 'of order --dry-run') },
  examples: [
    ['steno schema files', 'of steno files --json'],
    ['steno schema events show > event.json', 'of a command below another'],
    ['steno schema', 'which there are'],
    ['steno schema order --dry-run', 'of steno order --dry-run --json'],
  ],
  load: async () => (await import('./schema.run.ts')).run,
});
