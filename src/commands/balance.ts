import { command } from '../spec/command.ts';
import { text } from '../spec/options.ts';

export const balance = command({
  name: 'balance',
  summary: 'Show the prepay balance in USD',
  about: 'Shows the prepay balance of the account in USD. With --min it exits with 1 if there is less.',
  options: {
    min: text('--min <amount>', 'exit with 1 if there is less than this'),
  },
  examples: [
    ['steno balance', 'show it'],
    ['steno balance --quiet', 'the bare number'],
    ['steno balance --min 50 || echo "time to top up"', 'check it in a script'],
  ],
  load: async () => (await import('./balance.run.ts')).run,
});
