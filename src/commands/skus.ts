import { command } from '../spec/command.ts';
import { withPager } from '../ui/pager.ts';
import { skuRecord, skusView } from '../views/catalog.ts';
import { printedList } from '../views/outputs.ts';

export const skus = command({
  name: 'skus',
  summary: 'List the SKUs that can be ordered and upgraded',
  about: 'Lists the SKUs that can be ordered and upgraded, for --sku. Nothing is sent.',
  examples: [
    ['steno skus', 'as a table'],
    ['steno skus --quiet', 'the bare names'],
  ],
  effect: 'none',
  exits: [],
  output: printedList(skuRecord),
  run: (context) => withPager(context, () => context.out.show(skusView())),
});
