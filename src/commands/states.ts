import { command } from '../cli/command-spec.ts';

export const states = command({
  name: 'states',
  summary: 'List the states of files and invoices',
  about: 'List the states of files and invoices. Nothing is sent.',
  examples: [
    ['steno states', 'as a table'],
    ['steno states --quiet', 'the bare names'],
  ],
  async run(context) {
    const { statesView } = await import('../views/catalog.ts');
    await context.out.show(statesView());
  },
});
