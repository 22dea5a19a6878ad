import { command } from '../spec/command.ts';
import { withPager } from '../ui/pager.ts';
import { formatRecord, formatsView } from '../views/catalog.ts';
import { printedList } from '../views/outputs.ts';

export const formatsCommand = command({
  name: 'formats',
  summary: 'List the formats of transcripts',
  about: 'Lists the formats of transcripts, for --format. Nothing is sent.',
  examples: [
    ['steno formats', 'as a table'],
    ['steno formats --quiet', 'the bare names'],
  ],
  effect: 'none',
  exits: [],
  output: printedList(formatRecord),
  run: (context) => withPager(context, () => context.out.show(formatsView())),
});
