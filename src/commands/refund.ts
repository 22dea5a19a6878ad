import { command } from '../cli/command-spec.ts';
import { flag } from '../cli/options.ts';

export const refund = command({
  name: 'refund',
  summary: 'Refund a file on which no work has been done',
  about:
    'Refunds a file that was ordered with prepay or on an invoice, while no transcription work has been done. ' +
    'It asks first on a terminal; elsewhere it requires --yes. It is sent once, and is in the ledger before it is sent.',
  details: [
    'Where an earlier try had no clear answer, or another process is sending the same, it exits 9: see steno attempts.',
  ],
  args: [{ name: '<id>', help: 'audiofile id', values: 'audiofile' }],
  options: {
    yes: flag('-y, --yes', 'do not ask'),
    test: flag('--test', 'ask for a fake approval; only for audiofiles 100 and 101'),
    again: flag('--again', 'send it though an earlier try had no clear answer'),
  },
  examples: [
    ['steno refund 12345', 'asks before it does it'],
    ['steno refund 12345 --yes', 'in a script'],
    ['steno refund 100 --test --yes', 'try it'],
  ],
  load: async () => (await import('./refund.run.ts')).run,
});
