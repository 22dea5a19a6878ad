import { command } from '../spec/command.ts';
import { idsFrom } from '../spec/options.ts';

export const track = command({
  name: 'track',
  summary: 'Take files into the ledger that were ordered elsewhere',
  about:
    'Asks the service about each file and takes it into the ledger: its order, its link, its state, its title. From ' +
    'then on files, wait and sync know it, and its link counts as ordered. A file that the ledger has already is ' +
    'refreshed.',
  args: [{ name: '[id…]', help: 'audiofile ids' }],
  options: {
    from: idsFrom(),
  },
  examples: [
    ['steno track 12345', 'one file'],
    ['steno track --from ids.txt --quiet', 'many, from a list'],
  ],
  load: async () => (await import('./track.run.ts')).run,
});
