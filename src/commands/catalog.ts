/** `skus`, `states` and `formats`: the tables of the catalogue. */
import { type Command, command } from '../spec/command.ts';
import { withPager } from '../ui/pager.ts';
import { formatTable, skuTable, stateTable } from '../views/catalog.ts';

type Table = typeof skuTable | typeof stateTable | typeof formatTable;

const table = (
  { record, view }: Table,
  spec: Readonly<Record<'name' | 'summary' | 'about', string>>,
): Command =>
  command({
    ...spec,
    examples: [
      [`steno ${spec.name}`, 'as a table'],
      [`steno ${spec.name} --quiet`, 'only the names'],
    ],
    effect: 'read',
    exits: [],
    output: () => record.printedList,
    run: (context) => withPager(context, () => context.out.show(view())),
  });

export const skus = table(skuTable, {
  name: 'skus',
  summary: 'List the SKUs for orders and upgrades',
  about: 'Lists the SKUs for orders and upgrades (--sku). Works offline.',
});

export const states = table(stateTable, {
  name: 'states',
  summary: 'List the states of files and invoices',
  about: 'Lists the states of files and invoices, and what each means. Works offline.',
});

export const formats = table(formatTable, {
  name: 'formats',
  summary: 'List the transcript formats',
  about: 'Lists the transcript formats (--format). Works offline.',
});
