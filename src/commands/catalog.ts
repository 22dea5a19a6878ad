/** `skus`, `states` and `formats`: the tables of the catalogue. */
import type { View } from '../lib/view.ts';
import { type Command, command } from '../spec/command.ts';
import { withPager } from '../ui/pager.ts';
import { formatRecord, formatsView, skuRecord, skusView, stateRecord, statesView } from '../views/catalog.ts';

type Table = Pick<Command, 'name' | 'summary' | 'about' | 'output'> & { readonly view: () => View };

const table = ({ view, ...spec }: Table): Command =>
  command({
    ...spec,
    examples: [
      [`steno ${spec.name}`, 'as a table'],
      [`steno ${spec.name} --quiet`, 'only the names'],
    ],
    effect: 'read',
    exits: [],
    run: (context) => withPager(context, () => context.out.show(view())),
  });

export const skus = table({
  name: 'skus',
  summary: 'List the SKUs for orders and upgrades',
  about: 'Lists the SKUs for orders and upgrades (--sku). Works offline.',
  output: () => skuRecord.printedList,
  view: skusView,
});

export const states = table({
  name: 'states',
  summary: 'List the states of files and invoices',
  about: 'Lists the states of files and invoices, and what each means. Works offline.',
  output: () => stateRecord.printedList,
  view: statesView,
});

export const formats = table({
  name: 'formats',
  summary: 'List the transcript formats',
  about: 'Lists the transcript formats (--format). Works offline.',
  output: () => formatRecord.printedList,
  view: formatsView,
});
