import { command } from '../spec/command.ts';
import { withPager } from '../ui/pager.ts';
import { stateRecord, statesView } from '../views/catalog.ts';
import { printedList } from '../views/outputs.ts';

export const states = command({
  name: 'states',
  summary: 'List the states of files and invoices',
  about: 'Lists the states of files and invoices, with what each means. Nothing is sent.',
  examples: [
    ['steno states', 'as a table'],
    ['steno states --quiet', 'the bare names'],
  ],
  effect: 'none',
  exits: [],
  output: printedList(stateRecord),
  run: (context) => withPager(context, () => context.out.show(statesView())),
});
