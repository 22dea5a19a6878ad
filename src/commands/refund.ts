import { command } from '../spec/command.ts';
import { flag, idsFrom } from '../spec/options.ts';

export const refund = command({
  name: 'refund',
  summary: 'Refund files on which no work has been done',
  about:
    'Refunds files that were ordered with prepay or on an invoice, while no transcription work has been done. It asks ' +
    'first on a terminal; elsewhere it requires --yes. Each refund is sent once, and is in the ledger before it is sent.',
  details: [
    'Where an earlier try had no clear answer, or another process is sending the same, it exits 9: see steno attempts.',
    'Several files are refunded one after the other. One that is refused is listed, and the others go on; one without a ' +
      'clear answer ends the run, which names what was not sent.',
  ],
  args: [{ name: '[id…]', help: 'audiofile ids', values: 'audiofile' }],
  options: {
    from: idsFrom(),
    yes: flag('-y, --yes', 'do not ask'),
    test: flag('--test', 'ask for a fake approval; only for audiofiles 100 and 101'),
    again: flag('--again', 'send it though an earlier try had no clear answer'),
  },
  examples: [
    ['steno refund 12345', 'asks before it does it'],
    ['steno refund 12345 --yes', 'in a script'],
    ['steno refund --from ids.txt --yes', 'many, from a list'],
    ['steno refund 100 --test --yes', 'try it'],
  ],
  load: async () => (await import('./refund.run.ts')).run,
});
