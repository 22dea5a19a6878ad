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
      [`steno ${spec.name} --quiet`, 'the bare names'],
    ],
    effect: 'none',
    exits: [],
    run: (context) => withPager(context, () => context.out.show(view())),
  });

export const skus = table({
  name: 'skus',
  summary: 'List the SKUs that can be ordered and upgraded',
  about: 'Lists the SKUs that can be ordered and upgraded, for --sku. Nothing is sent.',
  output: () => skuRecord.printedList,
  view: skusView,
});

export const states = table({
  name: 'states',
  summary: 'List the states of files and invoices',
  about: 'Lists the states of files and invoices, with what each means. Nothing is sent.',
  output: () => stateRecord.printedList,
  view: statesView,
});

export const formats = table({
  name: 'formats',
  summary: 'List the formats of transcripts',
  about: 'Lists the formats of transcripts, for --format. Nothing is sent.',
  output: () => formatRecord.printedList,
  view: formatsView,
});
