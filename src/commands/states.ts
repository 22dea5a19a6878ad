import { command } from '../spec/command.ts';

export const states = command({
  name: 'states',
  summary: 'List the states of files and invoices',
  about: 'Lists the states of files and invoices, with what each means. Nothing is sent.',
  examples: [
    ['steno states', 'as a table'],
    ['steno states --quiet', 'the bare names'],
  ],
  load: async () => (await import('./states.run.ts')).run,
});
